use serde::{Deserialize, Serialize};

use crate::engine::graph::Compiled;
use crate::plan::{ExitPlan, Task};
use crate::state::{EncodeError, MigrationError};
use crate::step::{Choice, Leave, StoredExit};

use super::stored_command::StoredCommand;

/// The end of a task, without its writes.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct StoredFinish {
    /// The exits that the task's route took; `None` if it left by edges, or if its route function was not called yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    exits: Option<Vec<StoredExit>>,
    /// The state versions of its writes that are not 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) versions: Vec<(String, u32)>,
    /// Its command to the parent graph. The writes are then writes to the parent state.
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "said")]
    pub(crate) command: Option<StoredCommand>,
}

impl StoredFinish {
    /// Creates the end of a task that left its node in this way. `versions` are the versions of its writes.
    pub(crate) fn of(
        graph: &Compiled,
        task: &Task,
        leave: &Leave,
        versions: Vec<(String, u32)>,
    ) -> Result<Self, EncodeError> {
        let plan = graph.topology.nodes.get(task.node);
        let stored = |choice: &Choice| {
            let label = plan.and_then(|plan| plan.exit(choice.exit)).map_or("", |exit| exit.label);
            let rescue = plan.is_some_and(|plan| choice.exit >= plan.exits.len());
            Ok(StoredExit { rescue, ..StoredExit::of(label, choice)? })
        };
        let (exits, command) = match leave {
            Leave::ByEdges => (None, None),
            Leave::ErasedParentCommand(command) => (None, Some(StoredCommand::of(command)?)),
            leave => (Some(leave.choices().iter().map(stored).collect::<Result<_, EncodeError>>()?), None),
        };
        Ok(Self { exits, versions, command })
    }

    /// Returns the way in which the task left its node.
    pub(crate) fn leave(&self, graph: &Compiled, node: usize) -> Result<Leave, MigrationError> {
        let name = graph.node_name(node);
        let plan = graph.topology.nodes.get(node);
        let exits = plan.map(|plan| plan.exits.as_slice()).unwrap_or_default();
        let handler_exits = plan.map(|plan| plan.handler_exits.as_slice()).unwrap_or_default();
        let asked = graph.nodes.get(node).is_some_and(|node| node.decide.is_some());
        let Some(taken) = &self.exits else {
            return if exits.is_empty() || asked {
                Ok(Leave::ByEdges)
            } else {
                let reason = "the node had none when the task finished, and has one now".to_owned();
                Err(MigrationError::Route { node: name.to_owned(), reason })
            };
        };
        let choices = taken.iter().map(|choice| {
            let (first, among) = if choice.rescue { (exits.len(), handler_exits) } else { (0, exits) };
            choice.choose(ExitPlan::known(among, first), Some(name))
        });
        Ok(Leave::through(choices.collect::<Result<_, MigrationError>>()?))
    }
}
