use std::collections::HashMap;

use serde_json::{Value, json};

use super::StreamSpec;
use super::out::Out;
use super::thread_events::{At, Sender, ToolCalls};
use crate::graphs::{ServedEvent, task_uuid};
use crate::protocol::StreamMode;

/// The events of the mode `tools`.
#[derive(Debug)]
pub(super) struct Tools {
    calls: ToolCalls,
    sender: Sender,
    /// By its id, the name of the tool of a call.
    names: HashMap<String, Value>,
}

impl Default for Tools {
    fn default() -> Self {
        Self { calls: ToolCalls::default(), sender: Sender::new(String::new(), 0), names: HashMap::new() }
    }
}

impl Tools {
    pub(super) fn convert(&mut self, spec: &StreamSpec, event: &ServedEvent, out: &mut Out<'_>) {
        if !spec.wants(StreamMode::Tools) {
            return;
        }
        let task = event.task_id.as_deref().map(task_uuid).unwrap_or_default();
        let at = At { run_id: &spec.run_id, namespace: &event.namespace, task: &task };
        self.calls.convert(&at, event, &mut self.sender);
        for sent in self.sender.take() {
            let data: Value = serde_json::from_str(&sent.data).unwrap_or_default();
            let field = |name: &str| data.get(name).cloned().unwrap_or_default();
            let id = field("tool_call_id");
            let key = id.as_str().unwrap_or_default();
            let (event, name, value) = match data.get("event").and_then(Value::as_str).unwrap_or_default() {
                "tool-started" => {
                    self.names.insert(key.to_owned(), field("tool_name"));
                    ("on_tool_start", "input", field("input"))
                }
                "tool-error" => ("on_tool_error", "error", field("message")),
                _ => ("on_tool_end", "output", field("output")),
            };
            let data = json!({ "event": event, "toolCallId": id, "name": self.names.get(key), name: value });
            out.push(StreamMode::Tools, "tools", data.to_string());
        }
    }
}
