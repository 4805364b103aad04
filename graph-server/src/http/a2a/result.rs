//! The results of runs as the results of tasks.

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::graphs::AnyGraph;
use crate::protocol::RunId;
use crate::protocol::a2a::{Artifact, Message, Part, Task, TaskState};
use crate::runs::RunOutcome;
use crate::stream::interrupts_json;

/// Sets the state, the message and the artifacts of a task from the outcome of its latest run.
pub(super) fn apply(task: &mut Task, run: RunId, graph: &dyn AnyGraph, outcome: &RunOutcome) {
    let say = |part| Some(Message::of_agent(format!("{run}-status"), part));
    match outcome {
        RunOutcome::Done(values) => {
            task.state = TaskState::Completed;
            task.artifacts = Vec::from_iter(artifact(graph, values));
        }
        RunOutcome::Stopped { interrupts, .. } => {
            let question = Part::Data(json!({ "interrupts": interrupts_json(interrupts) }));
            task.state = TaskState::InputRequired;
            task.message = say(question.clone());
            task.artifacts = vec![Artifact { id: "interrupt", name: "Interrupt", part: question }];
        }
        RunOutcome::Failed(failure) => {
            task.state = TaskState::Failed;
            task.message = say(Part::Text(format!("{}: {}", failure.error, failure.message)));
        }
        RunOutcome::Cancelled | RunOutcome::RolledBack => task.state = TaskState::Canceled,
        // The next server continues the task.
        RunOutcome::HandedOver => task.state = TaskState::Working,
    }
}

/// Returns the result of a graph: the last message of its agent, or the output of a graph without messages.
fn artifact(graph: &dyn AnyGraph, values: &RawValue) -> Option<Artifact> {
    let values: Map<String, Value> = serde_json::from_str(values.get()).ok()?;
    let last = values.get("messages").and_then(Value::as_array).and_then(|messages| messages.last());
    let reply = last.filter(|last| last.get("type").is_some_and(|kind| kind == "ai"));
    if let Some(text) = reply.map(text_of).filter(|text| !text.is_empty()) {
        return Some(Artifact { id: "response", name: "Assistant Response", part: Part::Text(text) });
    }
    let output = Value::Object(graph.schemas().output_of(values));
    Some(Artifact { id: "output", name: "Output", part: Part::Data(output) })
}

/// Returns the text of a message or a chunk, whose content is a string or a list of blocks.
pub(super) fn text_of(message: &Value) -> String {
    match message.get("content") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(blocks)) => {
            let text = |block: &Value| match block {
                Value::String(text) => Some(text.clone()),
                block => block.get("text").and_then(Value::as_str).map(str::to_owned),
            };
            blocks.iter().filter_map(text).collect()
        }
        _ => String::new(),
    }
}
