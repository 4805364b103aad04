use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::events::LoggedEvent;
use crate::graphs::{RunFailure, ServedEvent, ServedKind, Stopped};
use crate::protocol::{Object, StreamMode};

use super::StreamSpec;
use super::astream::Astream;
use super::checkpoints::Checkpoints;
use super::messages::Messages;
use super::out::Out;
use super::tasks::Tasks;
use super::tools::Tools;
use super::updates::{interrupts_json, update_json};

/// A conversion of the events of one run. It appends to a list, and keeps the data that later events need.
pub(crate) struct Converter {
    spec: StreamSpec,
    /// The conversions to modes that few clients want. `None` if no such mode is wanted.
    details: Option<Box<Details>>,
}

/// The conversions that keep data for later events, or that send the metadata of the run.
#[derive(Default)]
struct Details {
    messages: Messages,
    tasks: Tasks,
    checkpoints: Checkpoints,
    astream: Astream,
    tools: Tools,
}

impl Converter {
    pub(crate) fn new(spec: StreamSpec) -> Self {
        let details = spec.modes.iter().any(|mode| match mode {
            StreamMode::Values | StreamMode::Updates | StreamMode::Custom => false,
            StreamMode::Messages
            | StreamMode::MessagesTuple
            | StreamMode::Tasks
            | StreamMode::Checkpoints
            | StreamMode::Debug
            | StreamMode::Tools
            | StreamMode::Events => true,
        });
        if details {
            return Self { details: Some(Box::default()), spec };
        }
        // The rest of it, which is only for the details, would be kept as long as the run.
        let StreamSpec { modes, subgraphs, run_id, .. } = spec;
        let spec = StreamSpec { modes, subgraphs, run_id, ..StreamSpec::default() };
        Self { details: None, spec }
    }

    /// Returns the first event of every stream.
    pub(crate) fn metadata(&self, attempt: u64) -> LoggedEvent {
        let data = json!({ "run_id": self.spec.run_id, "attempt": attempt }).to_string();
        LoggedEvent::new(None, "metadata", data)
    }

    /// Returns the event of a run that has failed.
    pub(crate) fn failure(&self, failure: &RunFailure) -> LoggedEvent {
        let data = json!({ "error": failure.error, "message": failure.message }).to_string();
        LoggedEvent::new(None, "error", data)
    }

    /// Converts an event, and appends the results.
    pub(crate) fn convert(&mut self, event: &ServedEvent, events: &mut Vec<LoggedEvent>) {
        if !event.namespace.is_empty() && !self.spec.subgraphs {
            return;
        }
        let namespace = event.namespace.join("|");
        let mut out = Out { events, namespace: &namespace };
        let spec = &self.spec;
        match &event.kind {
            ServedKind::Values(values) if spec.wants(StreamMode::Values) => {
                out.push(StreamMode::Values, "values", values.get().to_owned());
            }
            ServedKind::Update { writes, restored, .. } if spec.wants(StreamMode::Updates) => {
                let mut update = json!({ &*event.node: update_json(writes.clone()) });
                if *restored && let Some(object) = update.as_object_mut() {
                    object.insert("__metadata__".to_owned(), json!({ "cached": true }));
                }
                out.push(StreamMode::Updates, "updates", update.to_string());
            }
            ServedKind::Custom(value) if spec.wants(StreamMode::Custom) => {
                out.push(StreamMode::Custom, "custom", value.to_string());
            }
            ServedKind::Interrupted { values, stopped } => stop(spec, values, stopped, &mut out),
            _ => {}
        }
        if let Some(details) = &mut self.details {
            details.messages.convert(spec, event, &mut out);
            details.tasks.convert(spec, event, &mut out);
            details.checkpoints.convert(spec, event, &mut out);
            details.astream.convert(spec, event, &mut out);
            details.tools.convert(spec, event, &mut out);
        }
    }
}

/// Appends the events with which a run says why it has stopped. After a breakpoint, the list of questions is empty.
fn stop(spec: &StreamSpec, values: &RawValue, stopped: &Stopped, out: &mut Out<'_>) {
    let interrupts = interrupts_json(&stopped.interrupts);
    if spec.wants(StreamMode::Updates) {
        out.push(StreamMode::Updates, "updates", json!({ "__interrupt__": interrupts }).to_string());
    }
    if spec.wants(StreamMode::Values) && !stopped.interrupts.is_empty() {
        out.push(StreamMode::Values, "values", with_interrupts(values, interrupts));
    }
}

/// Adds `__interrupt__` to the JSON of a state.
pub(crate) fn with_interrupts(values: &RawValue, interrupts: Value) -> String {
    let mut state: Object = serde_json::from_str(values.get()).unwrap_or_default();
    state.insert("__interrupt__".to_owned(), interrupts);
    Value::Object(state).to_string()
}
