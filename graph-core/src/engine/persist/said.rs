//! What a node of a subgraph has said to the graph around its own, until that has it.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::checkpoint::{RecordKind, TaskRecord};
use crate::engine::also_null::also_null;
use crate::graph::Compiled;
use crate::node::said::{StoredUpdate, Unread};
use crate::node::{Choice, Exit, Leave, Outward, OutwardType};
use crate::state::EncodeError;

use super::progress::packet_json;
use super::records::{StoredFinish, json_record, key, write_key};

/// It without its writes, which are stored as those of a result are.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoredSaid {
    /// The name of the state of the graph around.
    state: String,
    /// Whether it writes to that.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    writes: bool,
    /// The exits of its route that it takes; nothing where it says none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    exits: Option<Vec<SaidChoice>>,
}

#[derive(Debug, Serialize, Deserialize)]
struct SaidChoice {
    exit: String,
    /// Where it leads, which tells routes apart that have exits of the same name.
    to: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "also_null")]
    packet: Option<Box<RawValue>>,
}

/// Why it cannot be read.
pub(super) enum Unsaid {
    Unread(Unread),
    Other(String),
}

pub(super) fn said_records(place: u32, outward: &Outward) -> Result<Vec<TaskRecord>, EncodeError> {
    let update = outward.stored()?;
    let exits = outward.leave.as_ref().map(|leave| choices(&leave.1, &(outward.of().exits)())).transpose()?;
    let said = StoredSaid { state: outward.of().name.to_owned(), writes: update.is_some(), exits };
    let StoredUpdate { versions, writes } = update.unwrap_or_default();
    let mut records = Vec::new();
    for (ordinal, (form, field, payload)) in writes.into_iter().enumerate() {
        let key = key(place, RecordKind::Write, &write_key(ordinal, form, &field));
        records.push(TaskRecord { key, payload });
    }
    let finish = StoredFinish::of_said(said, versions);
    records.push(json_record(key(place, RecordKind::Finished, ""), &finish)?);
    Ok(records)
}

fn choices(leave: &Leave, exits: &[Exit]) -> Result<Vec<SaidChoice>, EncodeError> {
    let taken = match leave {
        Leave::By(choice) => std::slice::from_ref(choice),
        Leave::ByAll(choices) => choices.as_slice(),
        Leave::ByEdges | Leave::Outward(_) => &[],
    };
    let stored = taken.iter().map(|choice| {
        let exit = exits.get(choice.exit);
        let packet = choice.packet.as_ref().map(packet_json).transpose()?;
        let label = exit.map_or("", |exit| exit.label).to_owned();
        Ok(SaidChoice { exit: label, to: exit.map(leads).unwrap_or_default(), packet })
    });
    stored.collect()
}

/// The names of what an exit leads to.
fn leads(exit: &Exit) -> Vec<String> {
    exit.to.iter().map(|node| node.name().to_owned()).collect()
}

impl StoredSaid {
    /// What was said, as one of the types that the nodes of the graph can say.
    pub(super) fn read<S, D>(&self, graph: &Compiled<S, D>, update: StoredUpdate) -> Result<Outward, Unsaid> {
        let of = self.type_of(&graph.outward).ok_or_else(|| {
            Unsaid::Other(format!("no node says something like that to a graph on `{}` any more", self.state))
        })?;
        let taken = self.exits.as_ref().map(|taken| {
            let choices = taken.iter().map(|choice| choice.read(&of.exits)).collect::<Result<Vec<_>, _>>()?;
            Ok(Leave::ByAll(choices))
        });
        let leave = taken.transpose().map_err(Unsaid::Other)?;
        of.read(self.writes.then_some(update), leave).map_err(Unsaid::Unread)
    }

    fn type_of<'t>(&self, types: &'t [OutwardType]) -> Option<&'t OutwardType> {
        let taken = self.exits.as_deref().unwrap_or_default();
        let fits = |of: &&OutwardType, exact: bool| {
            let has = |choice: &SaidChoice| of.exits.iter().any(|exit| choice.is(exit, exact));
            of.of.name == self.state && taken.iter().all(has)
        };
        types.iter().find(|of| fits(of, true)).or_else(|| types.iter().find(|of| fits(of, false)))
    }
}

impl SaidChoice {
    /// Whether it is this one: by its name, and where it led when it was said.
    fn is(&self, exit: &Exit, exact: bool) -> bool {
        self.exit == exit.label && (!exact || self.to == leads(exit))
    }

    fn read(&self, exits: &[Exit]) -> Result<Choice, String> {
        let found = exits.iter().position(|exit| self.is(exit, true));
        let index = found.or_else(|| exits.iter().position(|exit| self.is(exit, false)));
        let gone = || format!("the route has no exit `{}` any more", self.exit);
        let (index, exit) = index.and_then(|at| Some((at, exits.get(at)?))).ok_or_else(gone)?;
        let packet = match (&self.packet, exit.packet.and_then(|packet| packet.read())) {
            (None, _) => None,
            (Some(_), None) => return Err(format!("the exit `{}` carries nothing any more", self.exit)),
            (Some(json), Some(read)) => {
                let read = read(json.get().as_bytes());
                Some(read.map_err(|error| format!("the packet of exit `{}`: {error}", self.exit))?)
            }
        };
        Ok(Choice { exit: index, packet })
    }
}
