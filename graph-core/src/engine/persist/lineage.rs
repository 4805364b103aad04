//! The earlier call of a subgraph, on the same branch, from whose state a new call continues.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::checkpoint::{
    Checkpoint, CheckpointError, CheckpointId, CheckpointQuery, CheckpointSource, Checkpointer,
    StoredCheckpoint,
};

use super::progress::under;

/// Returns the last checkpoint of the most recent call before `at` that belongs to the branch of `at`.
///
/// A call belongs to the branch if the superstep of its task was applied there. `within` is the namespace of the
/// calls, and `around` that of the run of `at`.
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
        // The newest checkpoint of a call comes first. The other checkpoints of a call on another branch are skipped
        // the same way.
        let Some(under) = under(&last) else { continue };
        let applied = match branch.way_from(under.checkpoint).await? {
            Way::None => false,
            // Written between two calls, while the parent run was at this checkpoint.
            _ if under.between => true,
            Way::Followed(CheckpointSource::Loop) => true,
            // An update from outside applied only the finished tasks.
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
        let query = CheckpointQuery::new(Arc::clone(thread)).namespace(Arc::clone(namespace)).limit(64);
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

/// The branch of a checkpoint: the supersteps that were applied on the way to it.
struct Branch<'s> {
    pages: Pages<'s>,
    /// The parent and the source of each checkpoint read so far.
    known: BTreeMap<CheckpointId, (Option<CheckpointId>, CheckpointSource)>,
    start: CheckpointId,
}

impl<'s> Branch<'s> {
    fn new(store: &'s dyn Checkpointer, thread: &Arc<str>, namespace: &Arc<str>, at: CheckpointId) -> Self {
        Self { pages: Pages::new(store, thread, namespace), known: BTreeMap::new(), start: at }
    }

    /// Returns the way from a checkpoint to the position of the run.
    async fn way_from(&mut self, planned: CheckpointId) -> Result<Way, CheckpointError> {
        // A checkpoint's parent is older than the checkpoint, so nothing older than the wanted one has to be read.
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
        // The remaining part of a pruned branch does not contain an older checkpoint.
        Ok(if at > planned && !self.known.contains_key(&planned) { Way::Pruned } else { Way::None })
    }
}

/// The way from a checkpoint to the position of the run.
enum Way {
    /// There is no way: the checkpoint is on another branch.
    None,
    /// The run is at this checkpoint.
    Here,
    /// The checkpoint has a successor on the branch, with this source.
    Followed(CheckpointSource),
    /// Unknown, because the way was pruned. A call that was made there and ended counts as applied.
    Pruned,
}
