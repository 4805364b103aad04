use std::collections::HashMap;

use serde_json::{Value, json};
use superstep::checkpoint::CheckpointId;
use superstep::interrupt::OpenInterrupt;

use super::checkpoint_chain::CheckpointChain;
use super::message_events::{At, MessageEvents};
use super::run_tree::RunTree;
use super::sender::Sender;
use super::tool_calls::ToolCalls;
use crate::graphs::{ServedEvent, ServedKind, interrupt_id, task_uuid};
use crate::protocol::StreamMode;
use crate::runs::RunOutcome;
use crate::stream::StreamSpec;
use crate::stream::out::Out;
use crate::stream::tasks::Tasks;
use crate::stream::updates::result_json;
use crate::thread_stream::{Channel, ThreadUse};

/// The conversion of the events of a run to events of its thread.
pub(crate) struct RunEvents {
    thread: ThreadUse,
    spec: StreamSpec,
    sender: Sender,
    tree: RunTree,
    messages: MessageEvents,
    tools: ToolCalls,
    tasks: Tasks,
    checkpoints: CheckpointChain,
    /// By its id, the namespace in which a question was asked.
    asked: HashMap<String, Vec<String>>,
    begun: bool,
}

impl RunEvents {
    /// Creates the conversion for a run that is executed for the nth time.
    pub(crate) fn new(thread: ThreadUse, spec: StreamSpec, epoch: u64) -> Self {
        // Of the classic modes, the events of tasks are used as they are.
        let spec = StreamSpec { modes: vec![StreamMode::Tasks], subgraphs: true, ..spec };
        Self {
            thread,
            sender: Sender::new(spec.run_id.clone(), epoch),
            tree: RunTree::new(spec.graph_id.clone()),
            messages: MessageEvents::default(),
            tools: ToolCalls::default(),
            tasks: Tasks::default(),
            checkpoints: CheckpointChain::default(),
            asked: HashMap::new(),
            begun: false,
            spec,
        }
    }

    /// The run begins with an input, whose checkpoint is announced. The first state waits for it.
    pub(crate) fn expect_input(&mut self) {
        self.checkpoints.expect_input();
    }

    /// The run continues a checkpoint.
    pub(crate) fn continue_from(&mut self, base: CheckpointId) {
        self.checkpoints.continue_from(base);
    }

    /// Returns the run and its subgraph calls.
    pub(crate) fn tree(&self) -> &RunTree {
        &self.tree
    }

    /// Announces the run.
    pub(crate) fn begin(&mut self) {
        if !std::mem::replace(&mut self.begun, true) {
            self.tree.begin(&mut self.sender);
            self.thread.push(self.sender.take());
        }
    }

    /// Converts an event.
    pub(crate) fn convert(&mut self, event: &ServedEvent) {
        self.begin();
        let namespace = &*event.namespace;
        let task = event.task_id.as_deref().map(task_uuid).unwrap_or_default();
        let at = At { run_id: &self.spec.run_id, namespace, task: &task };
        let sender = &mut self.sender;
        self.tree.enter(namespace, sender);
        self.checkpoints.convert(namespace, event, sender);
        // A state comes after the messages that it contains.
        self.messages.convert(&at, event, sender);
        self.tools.convert(&at, event, sender);
        let call = || {
            let mut call = namespace.to_vec();
            call.push(format!("{}:{task}", event.node));
            call
        };
        match &event.kind {
            ServedKind::Values(values) => {
                sender.push(Channel::Values, namespace, values.get().to_owned());
            }
            ServedKind::Update { writes, restored } => {
                self.tree.leave(&call(), "completed", None, sender);
                // The stream of the run that was interrupted has shown it.
                if !restored {
                    let data = json!({ "node": event.node, "values": result_json(writes) });
                    sender.push_of(Channel::Updates, namespace, &event.node, &data);
                }
            }
            ServedKind::TaskFailed { error } => self.tree.leave(&call(), "failed", Some(error), sender),
            ServedKind::Custom(value) => push_custom(namespace, &event.node, value, sender),
            ServedKind::Interrupt(open) => {
                self.asked.insert(open.id.clone(), namespace.to_vec());
            }
            _ => {}
        }
        self.push_tasks(event, namespace);
        if !self.checkpoints.waits() {
            self.thread.push(self.sender.take());
        }
    }

    fn push_tasks(&mut self, event: &ServedEvent, namespace: &[String]) {
        let name = &*namespace.join("|");
        let mut events = Vec::new();
        self.tasks.convert(&self.spec, event, &mut Out { events: &mut events, namespace: name });
        for event in events {
            // Questions are reported at the end, with the namespace in which they were asked.
            let (_, own) = event.name.split_once('|').unwrap_or_default();
            if own == name {
                self.sender.push(Channel::Tasks, namespace, event.data);
            } else {
                let own: Vec<_> = own.split('|').filter(|part| !part.is_empty()).map(str::to_owned).collect();
                self.sender.push(Channel::Tasks, &own, event.data);
            }
        }
    }

    /// Announces the end of the run, which is stored by now.
    pub(crate) fn end(mut self, outcome: &RunOutcome) {
        // The next server continues the run.
        if matches!(outcome, RunOutcome::HandedOver) {
            return;
        }
        self.begin();
        let sender = &mut self.sender;
        match outcome {
            RunOutcome::Failed(failure) => {
                let error = format!("{}: {}", failure.error, failure.message);
                self.messages.end(Some(&error), sender);
                self.tree.end("failed", Some(&error), sender);
            }
            RunOutcome::Done(_) => {
                self.messages.end(None, sender);
                self.tree.end("completed", None, sender);
            }
            RunOutcome::Stopped { interrupts, .. } => {
                self.messages.end(None, sender);
                for open in interrupts {
                    ask(&self.asked, open, sender);
                }
                self.tree.end("interrupted", None, sender);
            }
            RunOutcome::Cancelled | RunOutcome::RolledBack | RunOutcome::HandedOver => {
                self.messages.end(Some("the run was cancelled"), sender);
                self.tree.end("interrupted", None, sender);
            }
        }
        self.thread.push(self.sender.take());
    }
}

/// Sends a question. The Python client reads `value` where the protocol has `payload`.
fn ask(asked: &HashMap<String, Vec<String>>, open: &OpenInterrupt, sender: &mut Sender) {
    let id = interrupt_id(open);
    let namespace = asked.get(&open.id).unwrap_or(&open.namespace);
    let data = json!({ "interrupt_id": id, "payload": open.question, "value": open.question });
    sender.push_once(Channel::Input, namespace, &id, &data);
}

/// Sends a value that a node has emitted. An object of `name` and `payload` is an event with this name.
fn push_custom(namespace: &[String], node: &str, value: &Value, sender: &mut Sender) {
    let named = value.as_object().filter(|fields| fields.len() == 2).and_then(|fields| {
        let name = fields.get("name")?.as_str().filter(|name| !name.is_empty())?;
        Some((name, fields.get("payload")?))
    });
    match named {
        Some((name, payload)) => {
            let data = json!({ "name": name, "payload": payload });
            sender.push_custom(namespace, node, Some(name.to_owned()), &data);
        }
        None => sender.push_custom(namespace, node, None, &json!({ "payload": value })),
    }
}

impl std::fmt::Debug for RunEvents {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunEvents")
            .field("thread", &self.thread)
            .field("tree", &self.tree)
            .finish_non_exhaustive()
    }
}
