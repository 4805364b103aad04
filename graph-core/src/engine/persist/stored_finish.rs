use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::engine::also_null::also_null;
use crate::graph::Compiled;
use crate::node::{Choice, Leave};
use crate::plan::Task;
use crate::state::{EncodeError, MigrationError};

use super::json::packet_json;
use super::said::StoredSaid;

/// The end of a task, without its writes.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct StoredFinish {
    /// The exits that the task's route took; `None` if it left by edges, or if its route function was not called yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    exits: Option<Vec<StoredChoice>>,
    /// The state versions of its writes that are not 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) versions: Vec<(String, u32)>,
    /// Its command to the parent graph. The writes are then writes to the parent state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) said: Option<StoredSaid>,
}

#[derive(Debug, Serialize, Deserialize)]
struct StoredChoice {
    exit: String,
    /// `true` if the exit belongs to the route of the node's error handler.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    rescue: bool,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "also_null")]
    packet: Option<Box<RawValue>>,
}

impl StoredFinish {
    /// Creates the end of a task that left its node in this way. `versions` are the versions of its writes.
    pub(super) fn of(
        graph: &Compiled,
        task: &Task,
        leave: &Leave,
        versions: Vec<(String, u32)>,
    ) -> Result<Self, EncodeError> {
        let stored = |choice: &Choice| stored_choice(graph, task, choice);
        let (exits, said) = match leave {
            Leave::ByEdges => (None, None),
            Leave::ErasedParentCommand(outward) => (None, Some(StoredSaid::of(outward)?)),
            Leave::By(choice) => (Some(vec![stored(choice)?]), None),
            Leave::ByAll(choices) => (Some(choices.iter().map(stored).collect::<Result<_, _>>()?), None),
        };
        Ok(Self { exits, versions, said })
    }

    /// Returns the way in which the task left its node.
    pub(super) fn leave(&self, graph: &Compiled, node: usize) -> Result<Leave, MigrationError> {
        let name = graph.node_name(node);
        let gone = |reason| MigrationError::Route { node: name.to_owned(), reason };
        let plan = graph.topology.nodes.get(node);
        let exits = plan.map(|plan| plan.exits.as_slice()).unwrap_or_default();
        let handler_exits = plan.map(|plan| plan.handler_exits.as_slice()).unwrap_or_default();
        let asked = graph.nodes.get(node).is_some_and(|node| node.decide.is_some());
        let Some(taken) = &self.exits else {
            return if exits.is_empty() || asked {
                Ok(Leave::ByEdges)
            } else {
                Err(gone("the node had none when the task finished, and has one now".to_owned()))
            };
        };
        let choices = taken.iter().map(|choice| {
            let (from, among) = if choice.rescue { (exits.len(), handler_exits) } else { (0, exits) };
            let found = among.iter().zip(from..).find(|(exit, _)| exit.label == choice.exit);
            let (exit, index) =
                found.ok_or_else(|| gone(format!("it no longer has an exit `{}`", choice.exit)))?;
            let unreadable = |reason| {
                let of = format!("exit `{}` of node `{name}`", choice.exit);
                MigrationError::Packet { of, reason }
            };
            let packet = match (&choice.packet, exit.packet.and_then(|packet| packet.read())) {
                (None, _) => None,
                (Some(_), None) => {
                    return Err(unreadable("the exit no longer takes one".to_owned()));
                }
                (Some(json), Some(read)) => {
                    Some(read(json.get().as_bytes()).map_err(|error| unreadable(error.to_string()))?)
                }
            };
            Ok(Choice { exit: index, packet })
        });
        let mut choices: Vec<Choice> = choices.collect::<Result<_, MigrationError>>()?;
        match (choices.len(), choices.pop()) {
            (1, Some(choice)) => Ok(Leave::By(choice)),
            (_, last) => {
                choices.extend(last);
                Ok(Leave::ByAll(choices))
            }
        }
    }
}

fn stored_choice(graph: &Compiled, task: &Task, choice: &Choice) -> Result<StoredChoice, EncodeError> {
    let plan = graph.topology.nodes.get(task.node);
    let exit = plan.and_then(|plan| plan.exit(choice.exit)).map_or("", |exit| exit.label).to_owned();
    let rescue = plan.is_some_and(|plan| choice.exit >= plan.exits.len());
    Ok(StoredChoice { exit, rescue, packet: choice.packet.as_ref().map(packet_json).transpose()? })
}
