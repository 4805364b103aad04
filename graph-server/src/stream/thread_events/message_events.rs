use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use super::lanes::Lanes;
use super::message_blocks::{MessageBlocks, events_of};
use super::sender::Sender;
use crate::graphs::{ServedEvent, ServedKind};
use crate::stream::messages::messages_of;
use crate::stream::updates::remove_mark;
use crate::thread_stream::Channel;

/// The events of the channel `messages`.
#[derive(Debug, Default)]
pub(in crate::stream) struct MessageEvents {
    /// The ids of messages that are not new: those of the first state, and those that were sent.
    seen: HashSet<String>,
    /// The namespaces whose first state was read.
    begun: HashSet<Vec<String>>,
    /// By task, the message that the task is sending.
    open: HashMap<String, OpenMessage>,
    lanes: Lanes<Value>,
}

#[derive(Debug)]
struct OpenMessage {
    id: String,
    namespace: Vec<String>,
    node: String,
    blocks: MessageBlocks,
}

/// The place of an event.
pub(in crate::stream) struct At<'a> {
    pub(in crate::stream) run_id: &'a str,
    pub(in crate::stream) namespace: &'a [String],
    pub(in crate::stream) task: &'a str,
}

impl MessageEvents {
    pub(in crate::stream) fn convert(&mut self, at: &At<'_>, event: &ServedEvent, sender: &mut Sender) {
        match &event.kind {
            // Messages of later states come from updates.
            ServedKind::Values(values) if self.begun.insert(at.namespace.to_vec()) => {
                let state: Value = serde_json::from_str(values.get()).unwrap_or_default();
                self.seen.extend(messages_of(&state).filter_map(|(_, id)| id).map(str::to_owned));
            }
            ServedKind::Message(chunk) => self.piece(at, &event.node, chunk, sender),
            // A task that begins again sends its messages again.
            ServedKind::TaskStarted | ServedKind::TaskRetry => {
                self.fail(at.task, "the task starts again", sender);
            }
            ServedKind::TaskFailed { error } => self.fail(at.task, error, sender),
            ServedKind::Update { writes, restored } => {
                self.close(at.task, sender);
                for object in writes.as_array().into_iter().flatten() {
                    let overwritten = object.get("$overwrite").into_iter().flat_map(messages_of);
                    for (message, id) in messages_of(object).chain(overwritten) {
                        let is_new = id.is_none_or(|id| self.seen.insert(id.to_owned()));
                        if is_new && !restored {
                            self.whole(at, &event.node, message.clone(), sender);
                        }
                    }
                }
            }
            _ => {}
        }
    }

    fn piece(&mut self, at: &At<'_>, node: &str, chunk: &Value, sender: &mut Sender) {
        let given = chunk.get("id").and_then(Value::as_str);
        let continues = self.open.get(at.task).is_some_and(|open| given.is_none_or(|id| id == open.id));
        if !continues {
            self.close(at.task, sender);
            let id = given.map_or_else(|| format!("lc_run--{}", at.task), str::to_owned);
            self.seen.insert(id.clone());
            let start = start("ai", &id, at, node);
            let (namespace, node) = (at.namespace.to_vec(), node.to_owned());
            let open = OpenMessage { id, namespace, node, blocks: MessageBlocks::default() };
            self.send(&open, at.task, vec![start], sender);
            self.open.insert(at.task.to_owned(), open);
        }
        let Some(mut open) = self.open.remove(at.task) else { return };
        let events = open.blocks.push(chunk);
        self.send(&open, at.task, events, sender);
        self.open.insert(at.task.to_owned(), open);
    }

    /// Sends a message that was not streamed. Results of tools have a channel of their own.
    fn whole(&mut self, at: &At<'_>, node: &str, mut message: Value, sender: &mut Sender) {
        remove_mark(&mut message);
        let kind = message.get("type").and_then(Value::as_str).unwrap_or_default();
        let role = match kind {
            "ai" | "human" | "system" => kind,
            _ => return,
        };
        let id = message.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
        let mut events = vec![start(role, &id, at, node)];
        events.extend(events_of(&message));
        let (namespace, node) = (at.namespace.to_vec(), node.to_owned());
        let open = OpenMessage { id, namespace, node, blocks: MessageBlocks::default() };
        self.send(&open, at.task, events, sender);
    }

    /// Ends the message that a task is sending.
    fn close(&mut self, task: &str, sender: &mut Sender) {
        if let Some(mut open) = self.open.remove(task) {
            let events = std::mem::take(&mut open.blocks).finish();
            self.send(&open, task, events, sender);
        }
    }

    /// Gives up the message that a task is sending.
    fn fail(&mut self, task: &str, error: &str, sender: &mut Sender) {
        if let Some(open) = self.open.remove(task) {
            self.send(&open, task, vec![json!({ "event": "error", "message": error })], sender);
        }
    }

    /// Ends all messages.
    pub(in crate::stream) fn end(&mut self, error: Option<&str>, sender: &mut Sender) {
        let tasks: Vec<_> = self.open.keys().cloned().collect();
        for task in tasks {
            match error {
                Some(error) => self.fail(&task, error, sender),
                None => self.close(&task, sender),
            }
        }
    }

    fn send(&mut self, open: &OpenMessage, task: &str, events: Vec<Value>, sender: &mut Sender) {
        let OpenMessage { id, namespace, node, .. } = open;
        for mut event in events {
            if let Value::Object(event) = &mut event {
                event.insert("id".to_owned(), id.as_str().into());
            }
            let kind = event.get("event").and_then(Value::as_str).unwrap_or_default();
            let is_last = matches!(kind, "message-finish" | "error");
            for ready in self.lanes.add(namespace, node, task, event, is_last) {
                sender.push_of(Channel::Messages, namespace, node, &ready);
            }
        }
    }
}

fn start(role: &str, id: &str, at: &At<'_>, node: &str) -> Value {
    json!({
        "event": "message-start", "role": role, "id": id,
        "metadata": { "run_id": at.run_id, "langgraph_node": node },
    })
}
