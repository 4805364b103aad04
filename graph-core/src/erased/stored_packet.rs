use serde_json::value::RawValue;

use crate::state::EncodeError;

use super::packet::Packet;

/// Encodes a packet as JSON.
pub(crate) fn packet_json(packet: &Packet) -> Result<Box<RawValue>, EncodeError> {
    let mut json = Vec::new();
    packet.encode(&mut json)?;
    let text = String::from_utf8(json).map_err(EncodeError::of_plan)?;
    RawValue::from_string(text).map_err(EncodeError::of_plan)
}
