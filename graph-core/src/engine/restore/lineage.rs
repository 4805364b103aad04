//! The earlier call of a subgraph, on the same branch, from whose state a new call continues.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use crate::checkpoint::{
    Checkpoint, CheckpointError, CheckpointId, CheckpointQuery, CheckpointSource, Checkpointer,
    StoredCheckpoint,
};
use crate::engine::journal::ParentTask;
use crate::engine::stored::{parent_task, planned_at};
use crate::error::ErrorKind;

/// Returns the last checkpoint of the most recent call before `at` that belongs to the branch of `at`.
///
/// A call belongs to the branch if the superstep of its task was applied there. `namespace` is that of the
/// calls. `parents` has the namespaces of the parent runs, outermost first; `at` is in the last one.
pub(crate) async fn earlier_call(
    store: &dyn Checkpointer,
    thread: &Arc<str>,
    namespace: &Arc<str>,
    parents: &[Arc<str>],
    at: CheckpointId,
) -> Result<Option<StoredCheckpoint>, ErrorKind> {
    let parent_runs = parents
        .iter()
        .fold(None, |outer, parent| Some(Box::new(NamespaceRuns::new(store, thread, parent, outer))));
    let mut calls = NamespaceRuns::new(store, thread, namespace, parent_runs);
    match calls.last_call(None, at).await? {
        Some(last) => Ok(store.get(thread, namespace, Some(last)).await.map_err(unread)?.found),
        None => Ok(None),
    }
}

/// The runs in a namespace: that of the thread, or the calls of a subgraph.
struct NamespaceRuns<'s> {
    pages: Pages<'s>,
    /// The checkpoints read so far. Nothing newer than the oldest one is missing.
    known: BTreeMap<CheckpointId, ReadCheckpoint>,
    /// The parent runs. `None` for the thread itself.
    parent_runs: Option<Box<NamespaceRuns<'s>>>,
}

/// A checkpoint that was read.
struct ReadCheckpoint {
    parent: Option<CheckpointId>,
    source: CheckpointSource,
    /// The checkpoint that first planned its tasks, for an update from outside that has kept them.
    kept_from: Option<CheckpointId>,
    /// `true` if no task is planned there.
    ended: bool,
    /// The parent task. `None` for a checkpoint of the thread itself.
    parent_task: Option<ParentTask>,
    /// For the first checkpoint of a call that has begun anew: the last checkpoint of the call before it.
    call_before: Option<Option<CheckpointId>>,
}

type Reading<'a, T> = Pin<Box<dyn Future<Output = Result<T, ErrorKind>> + Send + 'a>>;

impl<'s> NamespaceRuns<'s> {
    fn new(
        store: &'s dyn Checkpointer,
        thread: &Arc<str>,
        namespace: &Arc<str>,
        parent_runs: Option<Box<NamespaceRuns<'s>>>,
    ) -> Self {
        Self { pages: Pages::new(store, thread, namespace), known: BTreeMap::new(), parent_runs }
    }

    /// Returns the last checkpoint of the most recent call that belongs to the branch of `at`, a checkpoint of the
    /// parent run. Considers only checkpoints before `end`.
    ///
    /// The future is boxed because calls nest to any depth.
    fn last_call(
        &mut self,
        end: Option<CheckpointId>,
        at: CheckpointId,
    ) -> Reading<'_, Option<CheckpointId>> {
        Box::pin(async move {
            let mut end = end;
            // The newest checkpoint of a call comes first. The other checkpoints of a call on another branch are
            // skipped the same way.
            while let Some(last) = self.newest_before(end).await? {
                end = Some(last);
                let Some(ReadCheckpoint { parent_task: Some(parent_task), ended, .. }) =
                    self.known.get(&last)
                else {
                    continue;
                };
                let (planned, between_calls, ended) =
                    (parent_task.checkpoint, parent_task.between_calls, *ended);
                let Some(parent_runs) = &mut self.parent_runs else { return Ok(None) };
                let applied = match parent_runs.branch_path(planned, at).await? {
                    BranchPath::None => false,
                    // Written between two calls, while the parent run was at this checkpoint.
                    _ if between_calls => true,
                    BranchPath::Followed(CheckpointSource::Loop) => true,
                    // An update from outside applied only the finished tasks.
                    BranchPath::Followed(CheckpointSource::Update) | BranchPath::Pruned => ended,
                    BranchPath::Followed(_) | BranchPath::Here => false,
                };
                if applied {
                    return Ok(Some(last));
                }
            }
            Ok(None)
        })
    }

    /// Returns the path from a checkpoint to a later one.
    async fn branch_path(
        &mut self,
        planned: CheckpointId,
        mut at: CheckpointId,
    ) -> Result<BranchPath, ErrorKind> {
        // A checkpoint's parent is older than the checkpoint, so nothing older than the wanted one has to be read.
        while self.known.keys().next().is_none_or(|oldest| *oldest > planned) && self.read_more().await? {}
        if at == planned || self.keeps(at, planned) {
            return Ok(BranchPath::Here);
        }
        while let Some(&ReadCheckpoint { parent, source, .. }) = self.known.get(&at) {
            let (parent, source) = match parent {
                Some(parent) => (parent, source),
                None => match self.call_before(at).await? {
                    // The earlier call was applied as a whole.
                    Some(last) => (last, CheckpointSource::Loop),
                    None if self.parent_runs.is_some() => break,
                    None => return Ok(BranchPath::None),
                },
            };
            match parent == planned || self.keeps(parent, planned) {
                true => return Ok(BranchPath::Followed(source)),
                false if parent < planned => return Ok(BranchPath::None),
                false => at = parent,
            }
        }
        // The remaining part of a pruned branch does not contain an older checkpoint.
        Ok(if at > planned && !self.known.contains_key(&planned) {
            BranchPath::Pruned
        } else {
            BranchPath::None
        })
    }

    /// Returns `true` if a checkpoint has kept the tasks that an earlier one has planned.
    fn keeps(&self, at: CheckpointId, planned: CheckpointId) -> bool {
        self.known.get(&at).is_some_and(|read| read.kept_from == Some(planned))
    }

    /// Returns the last checkpoint of the call before the one that has begun at `first`, on the same branch.
    ///
    /// A call that begins anew has no parent checkpoint, but the subgraphs inside may continue from the call before.
    async fn call_before(&mut self, first: CheckpointId) -> Result<Option<CheckpointId>, ErrorKind> {
        let Some(ReadCheckpoint { parent_task: Some(parent_task), call_before, .. }) = self.known.get(&first)
        else {
            return Ok(None);
        };
        if let Some(found) = call_before {
            return Ok(*found);
        }
        let at = parent_task.state_at();
        let found = self.last_call(Some(first), at).await?;
        if let Some(read) = self.known.get_mut(&first) {
            read.call_before = Some(found);
        }
        Ok(found)
    }

    /// Returns the newest checkpoint before `end`.
    async fn newest_before(&mut self, end: Option<CheckpointId>) -> Result<Option<CheckpointId>, ErrorKind> {
        loop {
            let newest = match end {
                Some(end) => self.known.range(..end).next_back(),
                None => self.known.last_key_value(),
            };
            if let Some((newest, _)) = newest {
                return Ok(Some(*newest));
            }
            if !self.read_more().await? {
                return Ok(None);
            }
        }
    }

    /// Reads one more checkpoint. Returns `false` after the last one.
    async fn read_more(&mut self) -> Result<bool, ErrorKind> {
        let Some(checkpoint) = self.pages.next().await? else { return Ok(false) };
        let parent_task = match &self.parent_runs {
            Some(_) => parent_task(&self.pages.query.thread, &checkpoint)?,
            None => None,
        };
        let planned_at = planned_at(&self.pages.query.thread, &checkpoint)?;
        let read = ReadCheckpoint {
            kept_from: (planned_at != checkpoint.id).then_some(planned_at),
            parent: checkpoint.parent,
            source: checkpoint.source,
            ended: checkpoint.next.is_empty(),
            parent_task,
            call_before: None,
        };
        self.known.insert(checkpoint.id, read);
        Ok(true)
    }
}

fn unread(error: CheckpointError) -> ErrorKind {
    ErrorKind::store(Arc::new(error))
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

    async fn next(&mut self) -> Result<Option<Checkpoint>, ErrorKind> {
        loop {
            if let Some(checkpoint) = self.page.next() {
                self.query.before = Some(checkpoint.id);
                return Ok(Some(checkpoint));
            }
            if !self.more {
                return Ok(None);
            }
            let page = self.store.list(self.query.clone()).await.map_err(unread)?;
            self.more = page.more && !page.items.is_empty();
            self.page = page.items.into_iter();
        }
    }
}

/// The path from a checkpoint to the position of the run.
enum BranchPath {
    /// There is no path: the checkpoint is on another branch.
    None,
    /// The run is at this checkpoint.
    Here,
    /// The checkpoint has a successor on the branch, with this source.
    Followed(CheckpointSource),
    /// Unknown, because the path was pruned. A call that was made there and ended counts as applied.
    Pruned,
}
