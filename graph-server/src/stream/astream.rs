use serde_json::{Value, json};

use super::StreamSpec;
use super::chunk::ai_chunk;
use super::messages::metadata;
use super::out::Out;
use super::updates::{result_json, update_json};
use crate::graphs::{ServedEvent, ServedKind, task_uuid};
use crate::protocol::StreamMode;

/// The events of the mode `events`, in the form of LangChain's `astream_events`, version 2.
#[derive(Default)]
pub(super) struct Astream {
    begun: bool,
}

impl Astream {
    pub(super) fn convert(&mut self, spec: &StreamSpec, event: &ServedEvent, out: &mut Out<'_>) {
        if !spec.wants(StreamMode::Events) {
            return;
        }
        let mut of_run = |name: &str, data: Value| {
            let item = json!({
                "event": name, "name": spec.graph_id, "run_id": spec.run_id, "parent_ids": [], "tags": [],
                "metadata": spec.metadata, "data": data,
            });
            out.push(StreamMode::Events, "events", item.to_string());
        };
        let root = event.namespace.is_empty();
        match &event.kind {
            ServedKind::Values(values) if root => {
                if !std::mem::replace(&mut self.begun, true) {
                    of_run("on_chain_start", json!({ "input": values }));
                }
                of_run("on_chain_stream", json!({ "chunk": values }));
            }
            ServedKind::Done { values } | ServedKind::Interrupted { values, .. } => {
                of_run("on_chain_end", json!({ "output": values }));
            }
            ServedKind::TaskStarted => of_task("on_chain_start", &event.node, json!({}), spec, event, out),
            ServedKind::Update { writes, .. } => {
                let chunk = json!({ "chunk": update_json(writes.clone()) });
                of_task("on_chain_stream", &event.node, chunk, spec, event, out);
                let output = json!({ "output": result_json(writes) });
                of_task("on_chain_end", &event.node, output, spec, event, out);
            }
            ServedKind::Message(chunk) => {
                let id = chunk.get("id").and_then(Value::as_str).unwrap_or_default();
                let data = json!({ "chunk": ai_chunk(chunk, id) });
                of_task("on_chat_model_stream", "model", data, spec, event, out);
            }
            _ => {}
        }
    }
}

/// Appends an event of a task.
fn of_task(name: &str, of: &str, data: Value, spec: &StreamSpec, event: &ServedEvent, out: &mut Out<'_>) {
    let task = event.task_id.as_deref().map(task_uuid).unwrap_or_default();
    let item = json!({
        "event": name, "name": of, "run_id": task, "parent_ids": [spec.run_id],
        "tags": [format!("graph:step:{}", event.superstep)],
        "metadata": metadata(spec, event, &task, out.namespace), "data": data,
    });
    out.push(StreamMode::Events, "events", item.to_string());
}
