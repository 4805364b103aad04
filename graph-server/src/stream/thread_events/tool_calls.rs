use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use super::message_events::At;
use super::sender::Sender;
use crate::graphs::{ServedEvent, ServedKind};
use crate::stream::messages::messages_of;
use crate::stream::updates::remove_mark;
use crate::thread_stream::Channel;

/// The events of the channel `tools`, which follow from the messages of the state.
///
/// A call is known from the message of the model. It has started when a task of a node `tools` starts, of which there is one
/// for each call, and it has finished with its tool message. A node with another name shows both at the end.
#[derive(Debug, Default)]
pub(in crate::stream) struct ToolCalls {
    /// By namespace, the calls of the latest state that have no result.
    open: HashMap<Vec<String>, Vec<Call>>,
    started: HashSet<String>,
}

#[derive(Clone, Debug)]
struct Call {
    id: String,
    name: Value,
    args: Value,
}

/// The name that nodes of tools have.
const TOOLS: &str = "tools";

impl ToolCalls {
    pub(in crate::stream) fn convert(&mut self, at: &At<'_>, event: &ServedEvent, sender: &mut Sender) {
        match &event.kind {
            ServedKind::Values(values) => {
                // Most states have no calls, and are not parsed.
                if values.get().contains("\"tool_calls\"") {
                    let state: Value = serde_json::from_str(values.get()).unwrap_or_default();
                    self.open.insert(at.namespace.to_vec(), open_calls(&state));
                } else {
                    self.open.remove(at.namespace);
                }
            }
            ServedKind::TaskStarted if event.node == TOOLS => {
                let index =
                    event.task_id.as_deref().and_then(|id| id.rsplit(':').next()?.parse::<usize>().ok());
                let calls = self.open.get(at.namespace);
                if let Some(call) = index.and_then(|index| calls?.get(index)).cloned() {
                    self.start(at, &event.node, &call, sender);
                }
            }
            ServedKind::Update { writes, .. } => {
                for object in writes.as_array().into_iter().flatten() {
                    let overwritten = object.get("$overwrite").into_iter().flat_map(messages_of);
                    for (message, _) in messages_of(object).chain(overwritten) {
                        self.finish(at, &event.node, message, sender);
                    }
                }
            }
            _ => {}
        }
    }

    fn start(&mut self, at: &At<'_>, node: &str, call: &Call, sender: &mut Sender) {
        if !self.started.insert(call.id.clone()) {
            return;
        }
        let data = json!({
            "event": "tool-started", "tool_call_id": call.id, "tool_name": call.name, "input": call.args,
        });
        sender.push_of(Channel::Tools, at.namespace, node, &data);
    }

    /// Ends the call that a tool message answers.
    fn finish(&mut self, at: &At<'_>, node: &str, message: &Value, sender: &mut Sender) {
        let Some(id) = message.get("tool_call_id").and_then(Value::as_str) else { return };
        let open = self.open.get(at.namespace).into_iter().flatten();
        // A message that answers none of the calls is part of a conversation that was read.
        let Some(call) = open.into_iter().find(|call| call.id == id).cloned() else { return };
        self.start(at, node, &call, sender);
        let failed = message.get("status").and_then(Value::as_str) == Some("error");
        let mut output = message.clone();
        remove_mark(&mut output);
        let data = if failed {
            let text = match output.get("content") {
                Some(Value::String(text)) => text.clone(),
                Some(other) => other.to_string(),
                None => String::new(),
            };
            json!({ "event": "tool-error", "tool_call_id": id, "message": text })
        } else {
            json!({ "event": "tool-finished", "tool_call_id": id, "output": output })
        };
        sender.push_of(Channel::Tools, at.namespace, node, &data);
    }
}

/// Returns the calls of the last message of a model that have no result.
fn open_calls(state: &Value) -> Vec<Call> {
    let mut calls: Vec<Call> = Vec::new();
    let mut answered = HashSet::new();
    for (message, _) in messages_of(state) {
        if let Some(id) = message.get("tool_call_id").and_then(Value::as_str) {
            answered.insert(id.to_owned());
        }
        let lists =
            ["tool_calls", "invalid_tool_calls"].map(|list| message.get(list).and_then(Value::as_array));
        if message.get("type").and_then(Value::as_str) == Some("ai") {
            let found = lists.into_iter().flatten().flatten().filter_map(|call| {
                Some(Call {
                    id: call.get("id")?.as_str()?.to_owned(),
                    name: call.get("name").cloned().unwrap_or_default(),
                    args: call.get("args").cloned().unwrap_or_default(),
                })
            });
            calls = found.collect();
        }
    }
    calls.retain(|call| !answered.contains(&call.id));
    calls
}
