//! Commands of a subgraph's nodes to the parent graph, stored until the parent task's result contains them.

use serde::{Deserialize, Serialize};

use crate::checkpoint::{RecordKind, TaskRecord};
use crate::engine::graph::Compiled;
use crate::payload::Payload;
use crate::state::{EncodeError, Form, MigrationError};
use crate::step::{
    Choice, ErasedParentCommand, Exit, KnownExit, Leave, ParentCommandType, StoredExit, StoredUpdate,
    UnreadableUpdate,
};

use super::keys::{key, write_key};

/// A stored command without its writes, which are stored like those of a result.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct StoredCommand {
    /// The name of the parent state.
    state: String,
    /// `true` if the command writes to the parent state.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    writes: bool,
    /// The exits that the command takes in the parent graph; `None` if it takes none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    exits: Option<Vec<StoredExit>>,
}

/// The reason why a command cannot be read.
pub(crate) enum UnreadableCommand {
    Unread(UnreadableUpdate),
    Outdated(MigrationError),
    Other(String),
}

/// The records of writes, and the versions of their state that are not 0.
type VersionedRecords = (Vec<TaskRecord>, Vec<(String, u32)>);

/// Returns the records of a command's writes to the parent state.
pub(crate) fn command_records(
    place: u32,
    command: &ErasedParentCommand,
) -> Result<VersionedRecords, EncodeError> {
    let StoredUpdate { versions, writes } = command.stored()?.unwrap_or_default();
    let record = |(ordinal, (form, field, payload)): (usize, (Form, String, Payload))| {
        TaskRecord::new(key(place, RecordKind::Write, &write_key(ordinal, form, &field)), payload)
    };
    Ok((writes.into_iter().enumerate().map(record).collect(), versions))
}

fn stored_exits(leave: &Leave, exits: &[Exit]) -> Result<Vec<StoredExit>, EncodeError> {
    let stored = leave.choices().iter().map(|choice| {
        let exit = exits.get(choice.exit);
        let to = exit.map(leads).unwrap_or_default();
        Ok(StoredExit { to, ..StoredExit::of(exit.map_or("", |exit| exit.label), choice)? })
    });
    stored.collect()
}

/// Returns the names of the nodes to which an exit leads.
fn leads(exit: &Exit) -> Vec<String> {
    exit.to.iter().map(|node| node.name().to_owned()).collect()
}

impl StoredCommand {
    pub(crate) fn of(command: &ErasedParentCommand) -> Result<Self, EncodeError> {
        let exits =
            command.leave.as_ref().map(|leave| stored_exits(&leave.1, &(command.exits)())).transpose()?;
        Ok(Self { state: command.state.name.to_owned(), writes: command.writes(), exits })
    }

    /// Reads the command as one of the types that the graph's nodes can return.
    pub(crate) fn read(
        &self,
        graph: &Compiled,
        update: StoredUpdate,
    ) -> Result<ErasedParentCommand, UnreadableCommand> {
        let of = self.type_of(&graph.parent_commands).ok_or_else(|| {
            UnreadableCommand::Other(format!(
                "no node returns a command for a parent graph over `{}` any longer",
                self.state
            ))
        })?;
        let taken = self.exits.as_ref().map(|taken| {
            let choices = taken.iter().map(|taken| read(taken, &of.exits)).collect::<Result<Vec<_>, _>>()?;
            Ok(Leave::ByAll(choices))
        });
        let leave = taken.transpose().map_err(UnreadableCommand::Outdated)?;
        of.read(self.writes.then_some(update), leave).map_err(UnreadableCommand::Unread)
    }

    fn type_of<'t>(&self, types: &'t [ParentCommandType]) -> Option<&'t ParentCommandType> {
        let taken = self.exits.as_deref().unwrap_or_default();
        let fits = |of: &&ParentCommandType, exact: bool| {
            let has = |taken: &StoredExit| of.exits.iter().any(|exit| is(taken, exit, exact));
            of.state.name == self.state && taken.iter().all(has)
        };
        types.iter().find(|of| fits(of, true)).or_else(|| types.iter().find(|of| fits(of, false)))
    }
}

/// Returns `true` if a task took this exit, by its label and, for `exact`, by the nodes to which it leads.
fn is(taken: &StoredExit, exit: &Exit, exact: bool) -> bool {
    taken.exit == exit.label && (!exact || taken.to == leads(exit))
}

fn read(taken: &StoredExit, exits: &[Exit]) -> Result<Choice, MigrationError> {
    let known = |(index, exit): (usize, &Exit)| KnownExit { index, label: exit.label, packet: exit.packet };
    let all = exits.iter().enumerate();
    let exact = all.clone().filter(|(_, exit)| is(taken, exit, true));
    taken.choose(exact.chain(all).map(known), None)
}
