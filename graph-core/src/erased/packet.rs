use std::any::{Any, TypeId};
use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::payload::{Encoding, Unreadable, from_json_text};
use crate::state::{EncodeError, FieldPlace, encode_value};

/// A value that is sent to a node: any type that a checkpoint can store.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be sent to a node",
    label = "not a payload: a checkpoint cannot store it",
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

/// The name of a packet in errors.
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

/// A payload that is sent to a node.
#[derive(Clone)]
pub struct Packet(Arc<dyn ErasedPayload>);

impl Packet {
    /// Wraps a payload.
    pub fn new<T: Payload>(payload: T) -> Self {
        Self(Arc::new(payload))
    }

    /// Wraps a shared payload.
    #[doc(hidden)]
    pub fn share<T: Payload>(payload: Arc<T>) -> Self {
        Self(payload)
    }

    /// Returns the shared payload if it is a `T`.
    #[doc(hidden)]
    pub fn shared<T: Payload>(&self) -> Option<Arc<T>> {
        Arc::clone(&self.0).into_any().downcast().ok()
    }

    /// Returns the payload if it is a `T`.
    pub fn get<T: Any>(&self) -> Option<&T> {
        self.0.as_any().downcast_ref()
    }

    /// Writes the payload as JSON. Fails if it would not be read back unchanged.
    pub(crate) fn encode(&self, into: &mut Vec<u8>) -> Result<(), EncodeError> {
        let start = into.len();
        if self.0.encode(into)? == Encoding::Bytes {
            // Packets are stored inside JSON, where bytes are an array of numbers.
            let bytes = into.split_off(start);
            let numbers: Vec<String> = bytes.iter().map(u8::to_string).collect();
            into.extend(format!("[{}]", numbers.join(",")).bytes());
        }
        Ok(())
    }

    /// Converts the payload into JSON.
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

/// The type of a payload, for checks of a graph.
#[derive(Clone, Copy, Debug)]
pub struct PacketType {
    id: TypeId,
    name: &'static str,
    /// Reads a payload from JSON; `None` if the type is not known to be a payload.
    read: Option<ReadPacket>,
}

/// A function that reads a payload from JSON.
pub(crate) type ReadPacket = fn(&[u8]) -> Result<Packet, Unreadable>;

fn read<T: Payload>(json: &[u8]) -> Result<Packet, Unreadable> {
    from_json_text::<T>(json).map(Packet::new)
}

impl PacketType {
    /// Returns the packet type `T`.
    pub fn of<T: 'static>() -> Self {
        Self { id: TypeId::of::<T>(), name: std::any::type_name::<T>(), read: None }
    }

    /// Returns the function that reads a packet of type `T` back.
    pub(crate) fn reader<T: Payload>() -> ReadPacket {
        read::<T>
    }

    pub(crate) fn read_by(self, read: Option<ReadPacket>) -> Self {
        Self { read, ..self }
    }

    /// Returns the function that reads a packet of this type back, if it is known.
    pub(crate) fn read(&self) -> Option<ReadPacket> {
        self.read
    }

    /// Returns the type's name, for messages.
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
