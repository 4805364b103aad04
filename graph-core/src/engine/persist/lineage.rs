//! What a run within a run goes on with: the state that the call before it has left, on the same branch.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::checkpoint::{
    Checkpoint, CheckpointError, CheckpointId, CheckpointQuery, CheckpointSource, Checkpointer,
    StoredCheckpoint,
};

use super::progress::under;

/// The checkpoint at which the last call before `at` has ended that belongs to the branch of `at`. `within` is the namespace
/// of the calls, `around` that of the run that `at` belongs to.
///
/// A call belongs to the branch if the superstep was applied in which its task ran.
pub(crate) async fn before(
    store: &dyn Checkpointer,
    thread: &Arc<str>,
    within: &Arc<str>,
    around: &Arc<str>,
    at: CheckpointId,
) -> Result<Option<StoredCheckpoint>, CheckpointError> {
    let mut calls = Pages::new(store, thread, within);
    let mut branch = Branch::new(store, thread, around, at);
    while let Some(last) = calls.next().await? {
        // Of a call the newest checkpoint comes first: a call of another branch is passed over as a whole.
        let Some(under) = under(&last) else { continue };
        let applied = match branch.way_from(under.checkpoint).await? {
            Way::None => false,
            // Written between two calls, when the run around them stood there.
            _ if under.between => true,
            Way::Followed(CheckpointSource::Loop) => true,
            // With an update from outside only what had finished was applied.
            Way::Followed(CheckpointSource::Update) | Way::Pruned => last.next.is_empty(),
            Way::Followed(_) | Way::Here => false,
        };
        if applied {
            return Ok(store.get(thread, within, Some(last.id)).await?.found);
        }
    }
    Ok(None)
}

/// The checkpoints of a namespace, newest first.
struct Pages<'s> {
    store: &'s dyn Checkpointer,
    query: CheckpointQuery,
    page: std::vec::IntoIter<Checkpoint>,
    more: bool,
}

impl<'s> Pages<'s> {
    fn new(store: &'s dyn Checkpointer, thread: &Arc<str>, namespace: &Arc<str>) -> Self {
        let query = CheckpointQuery {
            thread: Arc::clone(thread),
            namespace: Arc::clone(namespace),
            limit: Some(64),
            ..CheckpointQuery::default()
        };
        Self { store, query, page: Vec::new().into_iter(), more: true }
    }

    async fn next(&mut self) -> Result<Option<Checkpoint>, CheckpointError> {
        loop {
            if let Some(checkpoint) = self.page.next() {
                self.query.before = Some(checkpoint.id);
                return Ok(Some(checkpoint));
            }
            if !self.more {
                return Ok(None);
            }
            let page = self.store.list(self.query.clone()).await?;
            self.more = page.more && !page.items.is_empty();
            self.page = page.items.into_iter();
        }
    }
}

/// The supersteps that were applied on the way to a checkpoint.
struct Branch<'s> {
    pages: Pages<'s>,
    /// By checkpoint, which one it follows and how; as far as was read.
    known: BTreeMap<CheckpointId, (Option<CheckpointId>, CheckpointSource)>,
    start: CheckpointId,
}

impl<'s> Branch<'s> {
    fn new(store: &'s dyn Checkpointer, thread: &Arc<str>, namespace: &Arc<str>, at: CheckpointId) -> Self {
        Self { pages: Pages::new(store, thread, namespace), known: BTreeMap::new(), start: at }
    }

    /// How a checkpoint has led to where the run is.
    async fn way_from(&mut self, planned: CheckpointId) -> Result<Way, CheckpointError> {
        // Checkpoints follow older ones: what is older than the one that is looked for is not needed.
        while self.known.keys().next().is_none_or(|oldest| *oldest > planned) {
            let Some(checkpoint) = self.pages.next().await? else { break };
            self.known.insert(checkpoint.id, (checkpoint.parent, checkpoint.source));
        }
        let mut at = self.start;
        if at == planned {
            return Ok(Way::Here);
        }
        while let Some((parent, source)) = self.known.get(&at) {
            match parent {
                Some(parent) if *parent == planned => return Ok(Way::Followed(*source)),
                Some(parent) if *parent > planned => at = *parent,
                _ => return Ok(Way::None),
            }
        }
        // What is left there of a checkpoint that is older is not on it.
        Ok(if at > planned && !self.known.contains_key(&planned) { Way::Pruned } else { Way::None })
    }
}

/// The way from a checkpoint to where a run is.
enum Way {
    /// There is none: the checkpoint is on another branch.
    None,
    /// The run is there.
    Here,
    /// This came of what it had planned.
    Followed(CheckpointSource),
    /// Nobody knows any more: the way was pruned. A call that was made there and came to its end counts.
    Pruned,
}
