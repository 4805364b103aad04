use std::collections::HashMap;
use std::time::SystemTime;

use serde_json::value::RawValue;
use serde_json::{Value, json};
use superstep::interrupt::OpenInterrupt;

use super::StreamSpec;
use super::out::Out;
use super::updates::{interrupts_json, result_json};
use crate::graphs::{ServedEvent, ServedKind, task_uuid};
use crate::protocol::{StreamMode, Timestamp};

/// The events of the modes `tasks` and `debug` about tasks.
#[derive(Default)]
pub(super) struct Tasks {
    /// By namespace, the state that the tasks of the current superstep read.
    states: HashMap<Vec<String>, Box<RawValue>>,
    /// The tasks that wait for answers, in the order of asking: namespace, id, node, questions.
    asking: Vec<(String, String, String, Vec<OpenInterrupt>)>,
}

impl Tasks {
    pub(super) fn convert(&mut self, spec: &StreamSpec, event: &ServedEvent, out: &mut Out<'_>) {
        if !spec.wants(StreamMode::Tasks) && !spec.wants(StreamMode::Debug) {
            return;
        }
        let id = || event.task_id.as_deref().map(task_uuid).unwrap_or_default();
        match &event.kind {
            ServedKind::Values(values) => {
                self.states.insert(event.namespace.clone(), values.clone());
            }
            ServedKind::TaskStarted => {
                let input = self.states.get(&event.namespace);
                let payload = json!({
                    "id": id(),
                    "name": event.node,
                    "input": input,
                    "triggers": [trigger(&event.node)],
                    "metadata": spec.metadata,
                });
                push(spec, "task", event.superstep, &payload, out);
            }
            ServedKind::Update { writes, .. } => {
                let payload =
                    result(&id(), &event.node, Value::Null, result_json(writes), Value::Array(Vec::new()));
                push(spec, "task_result", event.superstep, &payload, out);
            }
            ServedKind::TaskFailed { error } => {
                let payload = result(&id(), &event.node, json!(error), json!({}), Value::Array(Vec::new()));
                push(spec, "task_result", event.superstep, &payload, out);
            }
            ServedKind::Interrupt(question) => {
                let (id, question) = (id(), (**question).clone());
                match self
                    .asking
                    .iter_mut()
                    .find(|(namespace, of, ..)| *of == id && namespace == out.namespace)
                {
                    Some((.., questions)) => questions.push(question),
                    None => {
                        self.asking.push((out.namespace.to_owned(), id, event.node.clone(), vec![question]));
                    }
                }
            }
            ServedKind::Interrupted { .. } => {
                for (namespace, id, node, questions) in std::mem::take(&mut self.asking) {
                    let mut out = Out { events: out.events, namespace: &namespace };
                    let payload = result(&id, &node, Value::Null, json!({}), interrupts_json(&questions));
                    push(spec, "task_result", event.superstep, &payload, &mut out);
                }
            }
            _ => {}
        }
    }
}

/// The channel that has planned a node, as clients know it.
pub(super) fn trigger(node: &str) -> String {
    format!("branch:to:{node}")
}

fn result(id: &str, node: &str, error: Value, result: Value, interrupts: Value) -> Value {
    json!({ "id": id, "name": node, "error": error, "result": result, "interrupts": interrupts })
}

fn push(spec: &StreamSpec, kind: &str, superstep: u64, payload: &Value, out: &mut Out<'_>) {
    if spec.wants(StreamMode::Tasks) {
        out.push(StreamMode::Tasks, "tasks", payload.to_string());
    }
    if spec.wants(StreamMode::Debug) {
        out.push(StreamMode::Debug, "debug", debug(kind, superstep, payload));
    }
}

/// Wraps a payload for the mode `debug`.
pub(super) fn debug(kind: &str, step: impl serde::Serialize, payload: &Value) -> String {
    let timestamp = Timestamp::from(SystemTime::now()).to_string();
    json!({ "step": step, "timestamp": timestamp, "type": kind, "payload": payload }).to_string()
}
