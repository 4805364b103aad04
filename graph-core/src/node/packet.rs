use std::any::{Any, TypeId};
use std::fmt;
use std::sync::Arc;

use serde::{Serialize, de::DeserializeOwned};

use crate::payload::Encoding;
use crate::state::{EncodeError, FieldPlace, encode_value};

/// A value sent to a node: any type that a checkpoint can hold.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be sent to a node",
    label = "not a payload: a checkpoint cannot hold it",
    note = "derive `serde::Serialize` and `serde::Deserialize` for it; it also has to be `Send`, `Sync` and `'static`"
)]
pub trait Payload: Serialize + DeserializeOwned + Send + Sync + 'static {}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned + Send + Sync + 'static> Payload for T {}

trait ErasedPayload: Any + Send + Sync {
    fn as_any(&self) -> &(dyn Any + Send + Sync);
    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;
    fn to_json(&self) -> Result<serde_json::Value, serde_json::Error>;
    fn encode(&self, into: &mut Vec<u8>) -> Result<Encoding, EncodeError>;
}

/// What errors call a packet that cannot be stored.
const PLACE: FieldPlace = FieldPlace::__new(0, &["(a packet)"], false);

impl<T: Payload> ErasedPayload for T {
    fn as_any(&self) -> &(dyn Any + Send + Sync) {
        self
    }

    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }

    fn to_json(&self) -> Result<serde_json::Value, serde_json::Error> {
        serde_json::to_value(self)
    }

    fn encode(&self, into: &mut Vec<u8>) -> Result<Encoding, EncodeError> {
        encode_value(&PLACE, self, into)
    }
}

/// A payload on its way to a node.
#[derive(Clone)]
pub struct Packet(Arc<dyn ErasedPayload>);

impl Packet {
    /// Wraps a payload.
    pub fn new<T: Payload>(payload: T) -> Self {
        Self(Arc::new(payload))
    }

    /// Wraps a payload that others have as well.
    #[doc(hidden)]
    pub fn share<T: Payload>(payload: Arc<T>) -> Self {
        Self(payload)
    }

    /// The payload, shared, if it is a `T`.
    #[doc(hidden)]
    pub fn shared<T: Payload>(&self) -> Option<Arc<T>> {
        Arc::clone(&self.0).into_any().downcast().ok()
    }

    /// The payload, if it is a `T`.
    pub fn get<T: Any>(&self) -> Option<&T> {
        self.0.as_any().downcast_ref()
    }

    /// Writes the payload as JSON text, if it can be read back from it as it is.
    pub(crate) fn encode(&self, into: &mut Vec<u8>) -> Result<(), EncodeError> {
        let start = into.len();
        if self.0.encode(into)? == Encoding::Bytes {
            // Packets lie inside JSON: nothing but bytes is an array of numbers there.
            let bytes = into.split_off(start);
            let numbers: Vec<String> = bytes.iter().map(u8::to_string).collect();
            into.extend(format!("[{}]", numbers.join(",")).bytes());
        }
        Ok(())
    }

    /// The payload as JSON.
    ///
    /// # Errors
    /// The payload's own serializer failed.
    pub fn to_json(&self) -> Result<serde_json::Value, serde_json::Error> {
        self.0.to_json()
    }
}

impl fmt::Debug for Packet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Packet(..)")
    }
}

/// The type of a payload, for checking a graph's wiring.
#[derive(Clone, Copy, Debug)]
pub struct PacketType {
    id: TypeId,
    name: &'static str,
    /// Reads a payload from JSON text; known where the type is known to be a payload.
    read: Option<ReadPacket>,
}

/// Reads a payload from JSON text.
pub(crate) type ReadPacket = fn(&[u8]) -> Result<Packet, serde_json::Error>;

fn read<T: Payload>(json: &[u8]) -> Result<Packet, serde_json::Error> {
    serde_json::from_slice::<T>(json).map(Packet::new)
}

impl PacketType {
    /// The packet type `T`.
    pub fn of<T: 'static>() -> Self {
        Self { id: TypeId::of::<T>(), name: std::any::type_name::<T>(), read: None }
    }

    /// How a packet of type `T` is read back.
    pub(crate) fn reader<T: Payload>() -> ReadPacket {
        read::<T>
    }

    pub(super) fn read_by(self, read: Option<ReadPacket>) -> Self {
        Self { read, ..self }
    }

    /// How a packet of this type is read back, where that is known.
    pub(crate) fn read(&self) -> Option<ReadPacket> {
        self.read
    }

    /// The type's name, for messages.
    pub fn name(&self) -> &'static str {
        self.name
    }
}

impl PartialEq for PacketType {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for PacketType {}
