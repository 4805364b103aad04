use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};
use superstep::messages::{Message, MessageAssembler, MessageChunk};

use super::StreamSpec;
use super::chunk::{ai_chunk, last_chunk};
use super::out::Out;
use super::tasks::trigger;
use super::updates::remove_mark;
use crate::graphs::{ServedEvent, ServedKind, task_uuid};
use crate::protocol::{Object, StreamMode};

/// The events of the modes `messages-tuple` and `messages`.
#[derive(Default)]
pub(super) struct Messages {
    /// The ids of messages that are not new: those of the first state, and those that were sent.
    seen: HashSet<String>,
    /// The namespaces whose first state was read.
    begun: HashSet<Vec<String>>,
    /// By task, the message that the task is sending.
    open: HashMap<String, OpenMessage>,
}

struct OpenMessage {
    id: String,
    /// The message so far, for the mode `messages`.
    whole: MessageAssembler,
    metadata: Value,
}

impl Messages {
    pub(super) fn convert(&mut self, spec: &StreamSpec, event: &ServedEvent, out: &mut Out<'_>) {
        if !spec.wants(StreamMode::Messages) && !spec.wants(StreamMode::MessagesTuple) {
            return;
        }
        let task = event.task_id.as_deref().map(task_uuid).unwrap_or_default();
        match &event.kind {
            // Messages of later states come from updates.
            ServedKind::Values(values) if self.begun.insert(event.namespace.clone()) => {
                let state: Value = serde_json::from_str(values.get()).unwrap_or_default();
                let messages = messages_of(&state).filter_map(|(_, id)| id);
                self.seen.extend(messages.map(str::to_owned));
            }
            ServedKind::Message(chunk) => self.piece(spec, event, &task, chunk, out),
            // A task that begins again sends its messages again.
            ServedKind::TaskStarted | ServedKind::TaskRetry => {
                self.open.remove(&task);
            }
            ServedKind::TaskFailed { .. } => self.close(spec, &task, out),
            ServedKind::Update { writes, restored, .. } => {
                self.close(spec, &task, out);
                let metadata = || metadata(spec, event, &task, out.namespace);
                let mut whole = Vec::new();
                for object in writes.as_array().into_iter().flatten() {
                    let overwritten = object.get("$overwrite").into_iter().flat_map(messages_of);
                    for (message, id) in messages_of(object).chain(overwritten) {
                        let is_new = id.is_none_or(|id| self.seen.insert(id.to_owned()));
                        if is_new && !restored {
                            whole.push((message.clone(), id.unwrap_or_default().to_owned(), metadata()));
                        }
                    }
                }
                for (mut message, id, metadata) in whole {
                    remove_mark(&mut message);
                    send_whole(spec, &message, &id, &metadata, out);
                }
            }
            _ => {}
        }
    }

    fn piece(
        &mut self,
        spec: &StreamSpec,
        event: &ServedEvent,
        task: &str,
        chunk: &Value,
        out: &mut Out<'_>,
    ) {
        let given = chunk.get("id").and_then(Value::as_str);
        let continues = self.open.get(task).is_some_and(|open| given.is_none_or(|id| id == open.id));
        if !continues {
            self.close(spec, task, out);
            let id = given.map_or_else(|| format!("lc_run--{task}"), str::to_owned);
            self.seen.insert(id.clone());
            let metadata = metadata(spec, event, task, out.namespace);
            if spec.wants(StreamMode::Messages) {
                let data = json!({ &*id: { "metadata": metadata } }).to_string();
                out.push(StreamMode::Messages, "messages/metadata", data);
            }
            self.open
                .insert(task.to_owned(), OpenMessage { id, whole: MessageAssembler::default(), metadata });
        }
        let Some(open) = self.open.get_mut(task) else { return };
        if spec.wants(StreamMode::MessagesTuple) {
            let data = json!([ai_chunk(chunk, &open.id), open.metadata]).to_string();
            out.push(StreamMode::MessagesTuple, "messages", data);
        }
        if spec.wants(StreamMode::Messages)
            && let Ok(chunk) = serde_json::from_value::<MessageChunk>(chunk.clone())
        {
            open.whole.push(&chunk);
            let mut message = open.whole.clone().finish();
            message.id = Some(open.id.clone());
            let data = json!([Message::from(message)]).to_string();
            out.push(StreamMode::Messages, "messages/partial", data);
        }
    }

    /// Ends the message that a task is sending.
    fn close(&mut self, spec: &StreamSpec, task: &str, out: &mut Out<'_>) {
        let Some(open) = self.open.remove(task) else { return };
        if spec.wants(StreamMode::MessagesTuple) {
            let data = json!([last_chunk(&open.id), open.metadata]).to_string();
            out.push(StreamMode::MessagesTuple, "messages", data);
        }
    }
}

fn send_whole(spec: &StreamSpec, message: &Value, id: &str, metadata: &Value, out: &mut Out<'_>) {
    if spec.wants(StreamMode::MessagesTuple) {
        out.push(StreamMode::MessagesTuple, "messages", json!([message, metadata]).to_string());
    }
    if spec.wants(StreamMode::Messages) {
        let data = json!({ id: { "metadata": metadata } }).to_string();
        out.push(StreamMode::Messages, "messages/metadata", data);
        out.push(StreamMode::Messages, "messages/complete", json!([message]).to_string());
    }
}

/// Finds the messages in the fields of a state or an update, with their ids.
pub(super) fn messages_of(fields: &Value) -> impl Iterator<Item = (&Value, Option<&str>)> {
    let values = fields.as_object().into_iter().flat_map(Object::values);
    let items = values.flat_map(|value| match value {
        Value::Array(items) => items.as_slice(),
        one => std::slice::from_ref(one),
    });
    items.filter(|item| is_message(item)).map(|item| (item, item.get("id").and_then(Value::as_str)))
}

fn is_message(value: &Value) -> bool {
    let kind = value.get("type").and_then(Value::as_str);
    kind.is_some_and(|kind| matches!(kind, "human" | "ai" | "tool" | "system" | "function" | "chat"))
        && value.get("content").is_some()
}

/// Returns the metadata of a message.
pub(super) fn metadata(spec: &StreamSpec, event: &ServedEvent, task: &str, namespace: &str) -> Value {
    let separator = if namespace.is_empty() { "" } else { "|" };
    let place = format!("{namespace}{separator}{}:{task}", event.node);
    let mut metadata = spec.metadata.clone();
    for (key, value) in [
        ("langgraph_node", json!(event.node)),
        ("langgraph_step", json!(event.superstep)),
        ("langgraph_triggers", json!([trigger(&event.node)])),
        ("langgraph_path", json!(["__pregel_pull", event.node])),
        ("langgraph_checkpoint_ns", json!(place)),
        ("checkpoint_ns", json!(place)),
        ("run_id", json!(spec.run_id)),
        ("thread_id", json!(spec.thread_id)),
        ("graph_id", json!(spec.graph_id)),
        ("assistant_id", json!(spec.assistant_id)),
    ] {
        metadata.insert(key.to_owned(), value);
    }
    Value::Object(metadata)
}
