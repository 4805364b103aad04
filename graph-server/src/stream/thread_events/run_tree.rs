use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::sender::Sender;
use crate::thread_stream::Channel;

/// The run and its subgraph calls, with their statuses.
#[derive(Debug)]
pub(crate) struct RunTree {
    graph: String,
    status: &'static str,
    /// By namespace, the status of a subgraph call.
    calls: BTreeMap<Vec<String>, &'static str>,
}

const RUNNING: &str = "running";
const STARTED: &str = "started";

impl RunTree {
    pub(super) fn new(graph: String) -> Self {
        Self { graph, status: RUNNING, calls: BTreeMap::new() }
    }

    /// Announces the run.
    pub(super) fn begin(&self, sender: &mut Sender) {
        sender.push_once(Channel::Lifecycle, &[], RUNNING, &self.data(RUNNING));
    }

    fn data(&self, event: &str) -> Value {
        json!({ "event": event, "graph_name": self.graph })
    }

    /// Announces the subgraph calls of a namespace that are new.
    pub(super) fn enter(&mut self, namespace: &[String], sender: &mut Sender) {
        for length in 1..=namespace.len() {
            let Some(call) = namespace.get(..length) else { continue };
            if self.calls.contains_key(call) {
                continue;
            }
            self.calls.insert(call.to_vec(), STARTED);
            let (name, task) = node_and_task(call);
            let data = json!({
                "event": STARTED, "namespace": call, "graph_name": name, "trigger_call_id": task,
            });
            sender.push_once(Channel::Lifecycle, call, STARTED, &data);
        }
    }

    /// Ends a subgraph call and those that it has made.
    pub(super) fn leave(
        &mut self,
        namespace: &[String],
        status: &'static str,
        error: Option<&str>,
        sender: &mut Sender,
    ) {
        // The inner calls sort after the outer ones.
        let open: Vec<_> = self
            .calls
            .range(namespace.to_vec()..)
            .take_while(|(call, _)| call.starts_with(namespace))
            .filter(|(_, status)| **status == STARTED)
            .map(|(call, _)| call.clone())
            .collect();
        for call in open.into_iter().rev() {
            let mut data = json!({ "event": status, "graph_name": node_and_task(&call).0 });
            add_error(&mut data, error);
            sender.push_once(Channel::Lifecycle, &call, status, &data);
            self.calls.insert(call, status);
        }
    }

    /// Ends the run.
    pub(super) fn end(&mut self, status: &'static str, error: Option<&str>, sender: &mut Sender) {
        self.leave(&[], status, error, sender);
        self.status = status;
        let mut data = self.data(status);
        add_error(&mut data, error);
        sender.push_once(Channel::Lifecycle, &[], status, &data);
    }

    /// Returns the tree as JSON.
    pub(crate) fn json(&self) -> Value {
        self.node(&[], self.status, &self.graph)
    }

    fn node(&self, namespace: &[String], status: &str, graph: &str) -> Value {
        let children: Vec<_> = self
            .calls
            .iter()
            .filter(|(call, _)| call.len() == namespace.len() + 1 && call.starts_with(namespace))
            .map(|(call, status)| self.node(call, status, node_and_task(call).0))
            .collect();
        json!({ "namespace": namespace, "status": status, "graph_name": graph, "children": children })
    }
}

fn add_error(data: &mut Value, error: Option<&str>) {
    if let (Some(error), Value::Object(data)) = (error, data) {
        data.insert("error".to_owned(), error.into());
    }
}

/// Splits the last segment of a namespace.
fn node_and_task(namespace: &[String]) -> (&str, Option<&str>) {
    let last = namespace.last().map(String::as_str).unwrap_or_default();
    match last.split_once(':') {
        Some((node, task)) => (node, Some(task)),
        None => (last, None),
    }
}
