//! The stored form of the way in which a task left its node: the exits that it took, by their labels. Checkpoints store
//! the exits of routes and of parent commands in it, and caches those of cached results.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::erased::{PacketType, also_null, packet_json};
use crate::payload::Unreadable;
use crate::state::{EncodeError, MigrationError};

use super::leave::Choice;

/// One exit that a task took.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct StoredExit {
    /// The label of the exit.
    pub(crate) exit: String,
    /// The nodes of the parent graph to which the exit of a parent command leads. They distinguish routes with exits
    /// of the same label.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) to: Vec<String>,
    /// `true` if the exit belongs to the route of the node's error handler.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) rescue: bool,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "also_null")]
    pub(crate) packet: Option<Box<RawValue>>,
}

/// An exit that a node or a parent command has now.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KnownExit {
    pub(crate) index: usize,
    pub(crate) label: &'static str,
    /// The type of its packet; `None` if it takes none.
    pub(crate) packet: Option<PacketType>,
}

/// The reason why the packet of a stored exit cannot be read.
pub(crate) enum UnreadablePacket {
    /// The exit has no packet now.
    NotTaken,
    /// The packet is of another type now.
    OtherType(Unreadable),
}

impl StoredExit {
    /// Creates the stored form of a choice of the exit with this label.
    pub(crate) fn of(label: &str, choice: &Choice) -> Result<Self, EncodeError> {
        let packet = choice.packet.as_ref().map(packet_json).transpose()?;
        Ok(Self { exit: label.to_owned(), to: Vec::new(), rescue: false, packet })
    }

    /// Returns `true` if a packet is stored.
    pub(crate) fn has_packet(&self) -> bool {
        self.packet.is_some()
    }

    /// Returns the first of these exits with the stored label.
    pub(crate) fn find(&self, exits: impl IntoIterator<Item = KnownExit>) -> Option<KnownExit> {
        exits.into_iter().find(|exit| exit.label == self.exit)
    }

    /// Returns the choice of this exit, with the stored packet.
    pub(crate) fn choice(&self, exit: KnownExit) -> Result<Choice, UnreadablePacket> {
        let packet = match (&self.packet, exit.packet.and_then(|packet| packet.read())) {
            (None, _) => None,
            (Some(_), None) => return Err(UnreadablePacket::NotTaken),
            (Some(json), Some(read)) => {
                Some(read(json.get().as_bytes()).map_err(UnreadablePacket::OtherType)?)
            }
        };
        Ok(Choice { exit: exit.index, packet })
    }

    /// Returns the choice of one of these exits by its label.
    ///
    /// Errors name the node whose exits they are, or for an exit of a parent command the nodes to which it leads.
    pub(crate) fn choose(
        &self,
        exits: impl IntoIterator<Item = KnownExit>,
        node: Option<&str>,
    ) -> Result<Choice, MigrationError> {
        let label = &self.exit;
        let exit = self.find(exits).ok_or_else(|| MigrationError::Route {
            node: node.map_or_else(|| self.to.join("`, `"), str::to_owned),
            reason: format!("it no longer has an exit `{label}`"),
        })?;
        self.choice(exit).map_err(|unreadable| MigrationError::Packet {
            of: match node {
                Some(node) => format!("exit `{label}` of node `{node}`"),
                None => format!("exit `{label}`"),
            },
            reason: unreadable.to_string(),
        })
    }
}

impl std::fmt::Display for UnreadablePacket {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotTaken => f.write_str("the exit no longer takes one"),
            Self::OtherType(error) => error.fmt(f),
        }
    }
}
