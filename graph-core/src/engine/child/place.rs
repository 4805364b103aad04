use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use crate::engine::About;
use crate::engine::context::{Context, ParentRun, RunShared, TaskMemories};
use crate::engine::graph::{CallStorage, ErasedGraph};
use crate::engine::spans::RunSpan;
use crate::erased::StateType;
use crate::error::NodeError;
use crate::options::RunOptions;
use crate::stream::{Events, NodeEvent, RunPosition, Sink};

use super::call::Call;

/// The maximum depth of nested subgraph calls.
pub(crate) const DEPTH: usize = 32;

/// Subgraph calls are nested too deeply.
#[derive(Debug, thiserror::Error)]
#[error("subgraph `{}` is nested more than {DEPTH} levels deep: check that it does not call itself without end", .path.join("/"))]
struct TooDeep {
    path: Vec<String>,
}

/// A subgraph that was not known when its parent graph was compiled keeps its state where that is impossible.
#[derive(Debug, thiserror::Error)]
#[error("subgraph `{node}` keeps its state on the thread, but it is inside subgraph `{inside}`, {what}")]
struct StateNotKept {
    node: Arc<str>,
    inside: Arc<str>,
    what: &'static str,
}

/// The position of a subgraph call in its run.
pub(crate) struct CallPlace {
    /// The path of subgraph nodes to the call, including its own node.
    pub(crate) path: Arc<[Arc<str>]>,
    /// The ids of the tasks that have called the subgraphs on the path; empty without listeners.
    callers: Arc<[Arc<str>]>,
    /// The namespace of the call on its thread. It consists of node names and not of task ids, so that a fork has the
    /// same one.
    pub(crate) namespace: Arc<str>,
    /// The namespaces of the call under former names of its node.
    pub(crate) before: Vec<Arc<str>>,
    /// The prefix of the ids of the call's tasks, for a run that is not stored.
    pub(crate) task: String,
    /// The prefix of ids that are derived from the call's writes.
    call: Option<Arc<str>>,
    /// The position that the events of the call share; `None` without listeners.
    position: Option<RunPosition>,
}

impl CallPlace {
    pub(crate) fn of(call: &Call<'_>, cx: &Context) -> Result<Self, NodeError> {
        let parent_run = &cx.shared.parent_run;
        let node: Arc<str> = Arc::from(cx.node());
        let path: Arc<[Arc<str>]> = parent_run.path.iter().cloned().chain([Arc::clone(&node)]).collect();
        if path.len() > DEPTH {
            return Err(TooDeep { path: path.iter().map(|node| node.to_string()).collect() }.into());
        }
        if let (CallStorage::Thread(_), Some((inside, what))) = (&call.storage, &parent_run.loses_state) {
            return Err(StateNotKept { node, inside: Arc::clone(inside), what }.into());
        }
        let parent_namespace = parent_run
            .parent_persistence
            .as_ref()
            .map_or("", |parent_persistence| parent_persistence.namespace());
        let stored_as =
            |name: &str| stored_as(parent_namespace, name, &call.storage, call.packets, cx.at.task());
        let names = parent_run.aliases.iter().filter(|(_, place)| *place == cx.at.node());
        let before = names.map(|(name, _)| stored_as(name)).collect();
        let namespace = stored_as(&node);
        let (step, task) = (cx.at.step, cx.at.task());
        let call = cx.stamp_thread().map(|thread| Arc::from(format!("{thread}/{step}.{task}.{node}")));
        let position = parent_run.listeners.is_some().then(RunPosition::default);
        let callers = match &parent_run.listeners {
            Some(_) => {
                let caller = cx.shared.memories.task_id(step, task);
                parent_run.callers.iter().cloned().chain([Arc::from(caller)]).collect()
            }
            None => Arc::default(),
        };
        Ok(Self { path, callers, namespace, before, task: cx.scratch().task().to_owned(), call, position })
    }

    /// Creates the data that the call's tasks share.
    pub(crate) fn shared(&self, call: &Call<'_>, cx: &Context) -> RunShared {
        let graph = &call.graph;
        let memories = match cx.thread() {
            Some(thread) => TaskMemories::with_scope(Arc::from(thread)),
            None => TaskMemories::default(),
        };
        let parent_run = &cx.shared.parent_run;
        let loses_state = match &parent_run.loses_state {
            None if parent_run.parent_persistence.is_some() => {
                let what = call.storage.loses_state_inside(call.packets);
                what.zip(self.path.last()).map(|(what, node)| (Arc::clone(node), what))
            }
            inherited => inherited.clone(),
        };
        // Answers that arrived through the task, for the call and for subgraph calls inside it.
        let mut answers: BTreeMap<_, _> =
            parent_run.answers_of(&self.task).map(|(id, answer)| (id.clone(), answer.clone())).collect();
        answers.extend(cx.memory(|memory| memory.answers.clone()));
        RunShared {
            names: Arc::clone(&graph.0.names),
            metadata: cx.shared.metadata.clone(),
            thread: cx.shared.thread.clone(),
            sink: parent_run
                .listeners
                .as_ref()
                .filter(|sink| listened(&***sink))
                .map(|sink| self.sink(graph.0.state, sink)),
            memories: memories.inside_task(&self.task),
            steps: None,
            script: None,
            spans: self.spans(graph, cx),
            store: graph.1.as_ref().or(cx.shared.store.as_ref()).cloned(),
            cache: graph.2.as_ref().or(cx.shared.cache.as_ref()).cloned(),
            longest_sleep: parent_run.options.longest_sleep,
            stop: Mutex::new(parent_run.options.stop.clone()),
            parent_run: ParentRun {
                path: Arc::clone(&self.path),
                callers: Arc::clone(&self.callers),
                listeners: parent_run.listeners.as_ref().map(|sink| self.sink(graph.0.state, sink)),
                aliases: graph.0.aliases.clone(),
                answers: Arc::new(answers),
                taken: Arc::clone(&parent_run.taken),
                withdrawn: Arc::clone(&parent_run.withdrawn),
                reported: Arc::clone(&parent_run.reported),
                call: self.call.clone(),
                loses_state,
                pulses: parent_run.pulses.iter().cloned().chain([cx.scratch().pulse()]).collect(),
                ..ParentRun::default()
            },
        }
    }

    /// Opens the call's span, if the parent run has one.
    fn spans(&self, graph: &ErasedGraph, cx: &Context) -> RunSpan {
        if !cx.shared.spans.is_on() {
            return RunSpan::none();
        }
        RunSpan::begin(&graph.0.name, || About { thread: cx.thread(), run_id: None, begin: "call" })
    }

    fn sink(&self, state: &'static StateType, sink: &Arc<dyn Sink>) -> Arc<dyn Sink> {
        Arc::new(self.events(state, sink))
    }

    fn events(&self, state: &'static StateType, sink: &Arc<dyn Sink>) -> Events {
        let position = self.position.clone().unwrap_or_default();
        Events::for_subgraph(state, sink, &self.path, &self.callers, position)
    }

    /// Returns the events of the call, sent to the listeners of the parent run.
    pub(crate) fn listeners(&self, state: &'static StateType, cx: &Context) -> Option<Events> {
        cx.shared.parent_run.listeners.as_ref().map(|sink| self.events(state, sink))
    }

    /// Returns the options of the call.
    pub(crate) fn options(&self, call: &Call<'_>, cx: &Context) -> RunOptions {
        cx.shared.parent_run.options.options(call.recursion_limit)
    }
}

/// Returns `true` if a listener receives anything that nodes send.
fn listened(sink: &dyn Sink) -> bool {
    NodeEvent::MODES.into_iter().any(|mode| sink.wants(mode))
}

/// Returns the namespace of a subgraph call by a task of `node`.
pub(crate) fn stored_as(
    parent: &str,
    node: &str,
    storage: &CallStorage,
    packets: bool,
    task: usize,
) -> Arc<str> {
    let mut namespace = namespace(parent, node);
    match storage {
        CallStorage::Thread(Some(key)) => {
            namespace.push(':');
            escape(key, &mut namespace);
        }
        CallStorage::Thread(None) => {}
        // Each packet is a separate call; its task index is the same on every branch.
        CallStorage::Call | CallStorage::Nothing if packets => {
            let _ = write!(namespace, "#{task}");
        }
        CallStorage::Call | CallStorage::Nothing => {}
    }
    namespace.into()
}

/// Returns the namespace of a subgraph node, below the namespace of the parent run.
pub(crate) fn namespace(parent: &str, node: &str) -> String {
    let mut namespace = String::from(parent);
    if !namespace.is_empty() {
        namespace.push('/');
    }
    escape(node, &mut namespace);
    namespace
}

/// Escapes the separators of a namespace. Different strings stay different.
pub(crate) fn escape(text: &str, into: &mut String) {
    for c in text.chars() {
        match c {
            '/' | '%' | '#' | ':' => {
                let _ = write!(into, "%{:02X}", u32::from(c));
            }
            c => into.push(c),
        }
    }
}

/// Returns the string that was escaped.
pub(crate) fn unescape(part: &str) -> String {
    let mut parts = part.split('%');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for escaped in parts {
        let code = escaped.get(..2).and_then(|code| u8::from_str_radix(code, 16).ok());
        match (code, escaped.get(2..)) {
            (Some(code), Some(rest)) => {
                text.push(char::from(code));
                text.push_str(rest);
            }
            _ => {
                text.push('%');
                text.push_str(escaped);
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{escape, unescape};

    #[test]
    fn different_names_have_different_namespace_parts() {
        let part = |text: &str| {
            let mut part = String::new();
            escape(text, &mut part);
            assert_eq!(unescape(&part), text);
            part
        };
        let mut parts: Vec<String> = ["a", "a/b", "a%2Fb", "a:b", "a#1", "a%", ""].map(part).into();
        assert_eq!(parts.first().map(String::as_str), Some("a"));
        assert!(parts.iter().all(|part| !part.contains(['/', '#', ':'])));
        parts.sort();
        parts.dedup();
        assert_eq!(parts.len(), 7);
    }
}
