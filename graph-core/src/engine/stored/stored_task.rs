use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::checkpoint::{RecordKind, TaskRecord};
use crate::erased::{Packet, also_null, packet_json};
use crate::payload::{Encoding, Payload};
use crate::state::EncodeError;

use super::json::{json_payload, reason};
use super::unplanned::Unplanned;

/// A node with its packet: one that a resumption has added to a superstep, or that of a deferred task.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct StoredTask {
    pub(crate) node: String,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "also_null")]
    pub(crate) packet: Option<Box<RawValue>>,
}

impl StoredTask {
    /// Encodes an added node with its packet.
    pub(crate) fn payload(node: &str, packet: Option<&Packet>) -> Result<Payload, EncodeError> {
        match packet {
            None => Ok(Payload::new(Encoding::Bytes, node.as_bytes())),
            Some(packet) => json_payload(&Self { node: node.to_owned(), packet: Some(packet_json(packet)?) }),
        }
    }

    /// Reads the payload of a record back.
    pub(crate) fn read(payload: &Payload) -> Result<Self, Unplanned> {
        match payload.encoding() {
            Encoding::Json => {
                serde_json::from_slice(payload.bytes()).map_err(|error| Unplanned::Unreadable(reason(&error)))
            }
            _ => Ok(Self { node: String::from_utf8_lossy(payload.bytes()).into_owned(), packet: None }),
        }
    }

    /// Returns the added nodes of a checkpoint, for display. An unreadable one is shown as it is stored.
    pub(crate) fn shown(records: &[TaskRecord]) -> impl Iterator<Item = Self> {
        let added = records.iter().filter(|record| record.key.kind == RecordKind::Goto);
        added.map(|record| {
            Self::read(&record.payload).unwrap_or_else(|_| Self {
                node: String::from_utf8_lossy(record.payload.bytes()).into_owned(),
                packet: None,
            })
        })
    }

    /// Returns the packets of the added nodes, for display, by task index after `planned` tasks.
    pub(super) fn packets(records: &[TaskRecord], planned: usize) -> BTreeMap<usize, Value> {
        let shown = Self::shown(records).enumerate();
        let packets = shown.filter_map(|(index, added)| {
            Some((planned + index, serde_json::from_str(added.packet?.get()).ok()?))
        });
        packets.collect()
    }
}
