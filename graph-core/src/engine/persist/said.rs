//! Commands of a subgraph's nodes to the parent graph, stored until the parent task's result contains them.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::checkpoint::{RecordKind, TaskRecord};
use crate::engine::also_null::also_null;
use crate::graph::Compiled;
use crate::node::stored_update::{StoredUpdate, UnreadableUpdate};
use crate::node::{Choice, ErasedParentCommand, Exit, Leave, ParentCommandType};
use crate::payload::Payload;
use crate::state::{EncodeError, Form, MigrationError};

use super::json::packet_json;
use super::keys::{key, write_key};

/// A stored command without its writes, which are stored like those of a result.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoredSaid {
    /// The name of the parent state.
    state: String,
    /// `true` if the command writes to the parent state.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    writes: bool,
    /// The exits that the command takes in the parent graph; `None` if it takes none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    exits: Option<Vec<SaidChoice>>,
}

#[derive(Debug, Serialize, Deserialize)]
struct SaidChoice {
    exit: String,
    /// The nodes to which the exit leads. They distinguish routes with exits of the same name.
    to: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "also_null")]
    packet: Option<Box<RawValue>>,
}

/// The reason why a command cannot be read.
pub(super) enum Unsaid {
    Unread(UnreadableUpdate),
    Outdated(MigrationError),
    Other(String),
}

/// The records of writes, and the versions of their state that are not 0.
type VersionedRecords = (Vec<TaskRecord>, Vec<(String, u32)>);

/// Returns the records of a command's writes to the parent state.
pub(super) fn said_records(
    place: u32,
    outward: &ErasedParentCommand,
) -> Result<VersionedRecords, EncodeError> {
    let StoredUpdate { versions, writes } = outward.stored()?.unwrap_or_default();
    let record = |(ordinal, (form, field, payload)): (usize, (Form, String, Payload))| {
        TaskRecord::new(key(place, RecordKind::Write, &write_key(ordinal, form, &field)), payload)
    };
    Ok((writes.into_iter().enumerate().map(record).collect(), versions))
}

fn choices(leave: &Leave, exits: &[Exit]) -> Result<Vec<SaidChoice>, EncodeError> {
    let taken = match leave {
        Leave::By(choice) => std::slice::from_ref(choice),
        Leave::ByAll(choices) => choices.as_slice(),
        Leave::ByEdges | Leave::ErasedParentCommand(_) => &[],
    };
    let stored = taken.iter().map(|choice| {
        let exit = exits.get(choice.exit);
        let packet = choice.packet.as_ref().map(packet_json).transpose()?;
        let label = exit.map_or("", |exit| exit.label).to_owned();
        Ok(SaidChoice { exit: label, to: exit.map(leads).unwrap_or_default(), packet })
    });
    stored.collect()
}

/// Returns the names of the nodes to which an exit leads.
fn leads(exit: &Exit) -> Vec<String> {
    exit.to.iter().map(|node| node.name().to_owned()).collect()
}

impl StoredSaid {
    pub(super) fn of(outward: &ErasedParentCommand) -> Result<Self, EncodeError> {
        let exits = outward.leave.as_ref().map(|leave| choices(&leave.1, &(outward.exits)())).transpose()?;
        Ok(Self { state: outward.state.name.to_owned(), writes: outward.writes(), exits })
    }

    /// Reads the command as one of the types that the graph's nodes can return.
    pub(super) fn read(&self, graph: &Compiled, update: StoredUpdate) -> Result<ErasedParentCommand, Unsaid> {
        let of = self.type_of(&graph.outward).ok_or_else(|| {
            Unsaid::Other(format!(
                "no node returns a command for a parent graph over `{}` any longer",
                self.state
            ))
        })?;
        let taken = self.exits.as_ref().map(|taken| {
            let choices = taken.iter().map(|choice| choice.read(&of.exits)).collect::<Result<Vec<_>, _>>()?;
            Ok(Leave::ByAll(choices))
        });
        let leave = taken.transpose().map_err(Unsaid::Outdated)?;
        of.read(self.writes.then_some(update), leave).map_err(Unsaid::Unread)
    }

    fn type_of<'t>(&self, types: &'t [ParentCommandType]) -> Option<&'t ParentCommandType> {
        let taken = self.exits.as_deref().unwrap_or_default();
        let fits = |of: &&ParentCommandType, exact: bool| {
            let has = |choice: &SaidChoice| of.exits.iter().any(|exit| choice.is(exit, exact));
            of.state.name == self.state && taken.iter().all(has)
        };
        types.iter().find(|of| fits(of, true)).or_else(|| types.iter().find(|of| fits(of, false)))
    }
}

impl SaidChoice {
    /// Returns `true` if the choice is this exit, by its name and, for `exact`, by the nodes to which it leads.
    fn is(&self, exit: &Exit, exact: bool) -> bool {
        self.exit == exit.label && (!exact || self.to == leads(exit))
    }

    fn read(&self, exits: &[Exit]) -> Result<Choice, MigrationError> {
        let found = exits.iter().position(|exit| self.is(exit, true));
        let index = found.or_else(|| exits.iter().position(|exit| self.is(exit, false)));
        let gone = || {
            let reason = format!("it no longer has an exit `{}`", self.exit);
            MigrationError::Route { node: self.to.join("`, `"), reason }
        };
        let unreadable = |reason| MigrationError::Packet { of: format!("exit `{}`", self.exit), reason };
        let (index, exit) = index.and_then(|at| Some((at, exits.get(at)?))).ok_or_else(gone)?;
        let packet = match (&self.packet, exit.packet.and_then(|packet| packet.read())) {
            (None, _) => None,
            (Some(_), None) => return Err(unreadable("the exit no longer takes one".to_owned())),
            (Some(json), Some(read)) => {
                let read = read(json.get().as_bytes());
                Some(read.map_err(|error| unreadable(error.to_string()))?)
            }
        };
        Ok(Choice { exit: index, packet })
    }
}
