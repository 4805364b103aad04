//! The stored form of the way in which a task left its node: the exits that it took, by their labels. Checkpoints store
//! the exits of routes and of parent commands in it, and caches those of cached results.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::erased::{PacketType, also_null, packet_json};
use crate::payload::Unreadable;
use crate::state::EncodeError;

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

    /// Returns the choice of the exit that now has this number and this type of packet.
    pub(crate) fn choice(&self, exit: usize, packet: Option<PacketType>) -> Result<Choice, UnreadablePacket> {
        let packet = match (&self.packet, packet.and_then(|packet| packet.read())) {
            (None, _) => None,
            (Some(_), None) => return Err(UnreadablePacket::NotTaken),
            (Some(json), Some(read)) => {
                Some(read(json.get().as_bytes()).map_err(UnreadablePacket::OtherType)?)
            }
        };
        Ok(Choice { exit, packet })
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
