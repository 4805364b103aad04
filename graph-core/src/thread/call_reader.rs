//! Reads the subgraph calls of a thread, from the outermost to the innermost.

use std::collections::{BTreeMap, HashMap};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use serde_json::Value;

use crate::checkpoint::{
    Checkpoint, CheckpointError, CheckpointId, CheckpointQuery, NamespaceQuery, NamespaceRecord,
    StoredCheckpoint,
};
use crate::engine::child::unescape;
use crate::engine::{
    Compiled, ParentTask, START, parent_task, planned_at, shares_state, shown_packets, shown_state,
};
use crate::erased::ErasedState;
use crate::error::{Error, ErrorKind, with_causes};

use super::CallSnapshot;
use super::call_tasks::call_tasks;
use super::erased::ErasedThread;

pub(super) type Boxed<'a, T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send + 'a>>;

/// The number of namespaces in a page.
const PAGE: usize = 64;

/// Reads the heads of the subgraph namespaces, by the namespace of their parent run.
async fn heads(thread: &ErasedThread) -> Result<HashMap<String, Vec<NamespaceRecord>>, Error> {
    let mut heads: HashMap<String, Vec<NamespaceRecord>> = HashMap::new();
    let mut query = NamespaceQuery::new(Arc::clone(&thread.name)).limit(PAGE);
    loop {
        let page = thread.graph.store.namespaces(query.clone()).await;
        let page = page.map_err(|error| thread.graph.error(error))?;
        match page.items.last() {
            Some(last) if page.more => query = query.continue_after(last),
            _ => query.limit = None,
        }
        for found in page.items.into_iter().filter(|found| !found.namespace.is_empty()) {
            heads.entry(parent_of(&found.namespace).to_owned()).or_default().push(found);
        }
        if query.limit.is_none() {
            return Ok(heads);
        }
    }
}

/// Returns the namespace of the parent run.
pub(super) fn parent_of(namespace: &str) -> &str {
    namespace.rsplit_once('/').map_or("", |(outer, _)| outer)
}

/// A checkpoint of a run whose calls are read.
pub(super) struct CallParent<'g> {
    /// Its graph, if it is known.
    graph: Option<&'g Compiled>,
    namespace: String,
    path: Vec<String>,
    id: CheckpointId,
    /// The checkpoint that first planned its tasks.
    planned_at: CheckpointId,
    state: Option<Arc<dyn ErasedState>>,
    /// The packets of its tasks.
    packets: BTreeMap<usize, Value>,
}

/// A reader of the calls of a thread.
pub(super) struct CallReader<'t> {
    thread: &'t ErasedThread,
    heads: HashMap<String, Vec<NamespaceRecord>>,
}

impl<'t> CallReader<'t> {
    /// Reads the newest checkpoints of all subgraph calls of the thread first.
    pub(super) async fn new(thread: &'t ErasedThread) -> Result<Self, Error> {
        Ok(Self { thread, heads: heads(thread).await? })
    }

    /// Creates a reader of single calls, whose snapshots have no nested calls.
    pub(super) fn without_heads(thread: &'t ErasedThread) -> Self {
        Self { thread, heads: HashMap::new() }
    }

    fn refuse(&self, kind: ErrorKind) -> Error {
        self.thread.graph.refuse(kind)
    }

    pub(super) fn parent_task(&self, checkpoint: &Checkpoint) -> Result<Option<ParentTask>, Error> {
        parent_task(&self.thread.name, checkpoint).map_err(|kind| self.refuse(kind))
    }

    pub(super) async fn get(
        &self,
        namespace: &str,
        id: CheckpointId,
    ) -> Result<Option<StoredCheckpoint>, Error> {
        let loaded = self.thread.graph.store.get(&self.thread.name, namespace, Some(id)).await;
        Ok(loaded.map_err(|error| self.thread.graph.error(error))?.found)
    }

    /// Reads a checkpoint of the thread's own graph.
    pub(super) fn root(&self, stored: StoredCheckpoint) -> Result<CallParent<'t>, Error> {
        let graph: &'t Compiled = &self.thread.graph.graph.0;
        let level = CallParent {
            graph: Some(graph),
            namespace: String::new(),
            path: Vec::new(),
            id: stored.checkpoint.id,
            planned_at: planned_at(&self.thread.name, &stored.checkpoint)
                .map_err(|kind| self.refuse(kind))?,
            state: None,
            packets: self.packets(&stored)?,
        };
        let state = self.state(Some(graph), stored, None).map_err(|kind| self.refuse(kind))?;
        Ok(CallParent { state, ..level })
    }

    fn packets(&self, stored: &StoredCheckpoint) -> Result<BTreeMap<usize, Value>, Error> {
        let packets = shown_packets(&self.thread.name, &stored.checkpoint, &stored.records);
        packets.map_err(|kind| self.refuse(kind))
    }

    /// Reads the state of a checkpoint, if it has one and its graph is known.
    fn state(
        &self,
        graph: Option<&Compiled>,
        stored: StoredCheckpoint,
        base: Option<&dyn ErasedState>,
    ) -> Result<Option<Arc<dyn ErasedState>>, ErrorKind> {
        let StoredCheckpoint { checkpoint, fields, records, .. } = stored;
        let waits = checkpoint.next.iter().any(|next| &**next == START) && fields.is_empty();
        let Some(graph) = graph.filter(|_| !waits) else { return Ok(None) };
        if base.is_none() && shares_state(&self.thread.name, &checkpoint)? {
            return Ok(None);
        }
        shown_state(graph, &self.thread.name, &checkpoint, fields, &records, base).map(Some)
    }

    /// Reads a checkpoint of any namespace whose graph is found from the root.
    // Boxed because calls nest to any depth.
    pub(super) fn level<'a>(&'a self, namespace: &'a str, id: CheckpointId) -> Boxed<'a, CallParent<'t>> {
        Box::pin(async move {
            let Some(stored) = self.get(namespace, id).await? else {
                // It was pruned. The graph is known, but not the state.
                let (graph, path) = self.graph_of(namespace);
                let (namespace, packets) = (namespace.to_owned(), BTreeMap::new());
                return Ok(CallParent { graph, namespace, path, id, planned_at: id, state: None, packets });
            };
            if namespace.is_empty() {
                return self.root(stored);
            }
            match self.parent_task(&stored.checkpoint)? {
                Some(task) => {
                    let outer = self.level(parent_of(namespace), task.state_at()).await?;
                    Ok(self.call(&outer, namespace, &task, stored, false)?.1)
                }
                None => {
                    let (graph, path) = self.graph_of(namespace);
                    let (namespace, packets) = (namespace.to_owned(), BTreeMap::new());
                    Ok(CallParent { graph, namespace, path, id, planned_at: id, state: None, packets })
                }
            }
        })
    }

    /// Finds the graph of a namespace from the root, and the path of nodes to it.
    fn graph_of(&self, namespace: &str) -> (Option<&'t Compiled>, Vec<String>) {
        let (mut graph, mut path): (Option<&'t Compiled>, _) = (Some(&self.thread.graph.graph.0), Vec::new());
        for part in namespace.split('/').filter(|part| !part.is_empty()) {
            let (node, _) = parse(part);
            graph = graph.and_then(|graph| subgraph(graph, &node));
            path.push(node);
        }
        (graph, path)
    }

    /// Reads a checkpoint of a call in a task of `outer`. `applied` means that a later checkpoint has applied its tasks.
    pub(super) fn call(
        &self,
        outer: &CallParent<'t>,
        namespace: &str,
        task: &ParentTask,
        stored: StoredCheckpoint,
        applied: bool,
    ) -> Result<(CallSnapshot, CallParent<'t>), Error> {
        let (name, key) = parse(namespace.rsplit('/').next().unwrap_or_default());
        let graph = outer.graph.and_then(|graph| subgraph(graph, &name));
        let mut path = outer.path.clone();
        path.push(name.clone());
        let checkpoint = stored.checkpoint.clone();
        let planned_at = planned_at(&self.thread.name, &checkpoint).map_err(|kind| self.refuse(kind))?;
        let tasks = call_tasks(&self.thread.name, &stored, planned_at, applied);
        let tasks = tasks.map_err(|kind| self.refuse(kind))?;
        let packets = self.packets(&stored)?;
        let read = outer.with_base(&name, task, |base| self.state(graph, stored, base));
        let (state, unreadable) = match read {
            Ok(state) => (state, None),
            Err(kind) => (None, Some(with_causes(&kind))),
        };
        let shown = state.as_ref().map(|state| state.to_json()).transpose();
        let (shown, unreadable) = match shown {
            Ok(shown) => (shown, unreadable),
            Err(error) => (None, Some(error.to_string())),
        };
        let snapshot = CallSnapshot {
            namespace: namespace.to_owned(),
            path: path.clone(),
            key,
            called_at: task.state_at(),
            task: (!task.between_calls).then_some(task.task),
            id: checkpoint.id,
            parent: checkpoint.parent,
            source: checkpoint.source,
            step: checkpoint.step,
            run_id: checkpoint.run.id.to_string(),
            created_at: checkpoint.created_at,
            state: shown,
            unreadable,
            next: tasks.iter().map(|task| task.node.clone()).collect(),
            tasks,
            calls: Vec::new(),
        };
        let (namespace, id) = (namespace.to_owned(), checkpoint.id);
        Ok((snapshot, CallParent { graph, namespace, path, id, planned_at, state, packets }))
    }

    /// Reads the calls that the tasks of a checkpoint have made.
    // Boxed because calls nest to any depth.
    pub(super) fn calls_of<'a>(&'a self, outer: &'a CallParent<'t>) -> Boxed<'a, Vec<CallSnapshot>> {
        Box::pin(async move {
            let mut all = Vec::new();
            for found in self.heads.get(&outer.namespace).into_iter().flatten() {
                let head = found.head.clone();
                let head =
                    head.map_err(|error| self.thread.graph.error(CheckpointError::Corrupt(Box::new(error))))?;
                let Some((id, task)) = self.newest_of(outer, &found.namespace, head).await? else { continue };
                let Some(stored) = self.get(&found.namespace, id).await? else { continue };
                let (snapshot, level) = self.call(outer, &found.namespace, &task, stored, false)?;
                let calls = self.calls_of(&level).await?;
                all.push(CallSnapshot { calls, ..snapshot });
            }
            all.sort_by_key(|call| call.task);
            Ok(all)
        })
    }

    /// Finds the newest checkpoint of a namespace that a task of `outer` has made there.
    async fn newest_of(
        &self,
        outer: &CallParent<'t>,
        namespace: &Arc<str>,
        head: Checkpoint,
    ) -> Result<Option<(CheckpointId, ParentTask)>, Error> {
        let query = CheckpointQuery::new(Arc::clone(&self.thread.name)).namespace(Arc::clone(namespace));
        let mut query = query.before(head.id).limit(PAGE);
        let (mut page, mut more) = (vec![head].into_iter(), true);
        loop {
            let Some(checkpoint) = page.next() else {
                if !more {
                    return Ok(None);
                }
                let next = self.thread.graph.store.list(query.clone()).await;
                let next = next.map_err(|error| self.thread.graph.error(error))?;
                more = next.more && !next.items.is_empty();
                query.before = next.items.last().map(|last| last.id).or(query.before);
                page = next.items.into_iter();
                continue;
            };
            let Some(task) = self.parent_task(&checkpoint)? else { return Ok(None) };
            if task.state_at() <= outer.id {
                // The checkpoints of a namespace are in the order of those of its parent run.
                let is_of = !task.between_calls && task.checkpoint == outer.planned_at;
                return Ok(is_of.then_some((checkpoint.id, task)));
            }
        }
    }
}

impl CallParent<'_> {
    /// Calls `read` with the state on which the call of a task works, if it works on that of its parent run.
    fn with_base<T>(
        &self,
        node: &str,
        task: &ParentTask,
        read: impl FnOnce(Option<&dyn ErasedState>) -> T,
    ) -> T {
        let node = self.graph.and_then(|graph| graph.nodes.get(graph.find(node)?));
        let subgraph = node.and_then(|node| node.run.as_subgraph());
        let (Some(node), Some(subgraph), Some(state)) = (node, subgraph, &self.state) else {
            return read(None);
        };
        let packet = self.packets.get(&task.task).zip(node.read_packet);
        let packet = packet.and_then(|(json, read)| read(json.to_string().as_bytes()).ok());
        let call = subgraph.stored_call(&**state, packet.as_ref());
        read(call.and_then(|call| call.base))
    }
}

/// Returns the graph of a subgraph node.
fn subgraph<'g>(graph: &'g Compiled, node: &str) -> Option<&'g Compiled> {
    graph.nodes.get(graph.find(node)?)?.run.as_subgraph()?.graph()
}

/// Returns the node and the key of a part of a namespace.
fn parse(part: &str) -> (String, Option<String>) {
    let (part, _) = part.split_once('#').unwrap_or((part, ""));
    match part.split_once(':') {
        Some((node, key)) => (unescape(node), Some(unescape(key))),
        None => (unescape(part), None),
    }
}
