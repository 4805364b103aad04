//! States and updates whose type the engine does not name.
//!
//! The engine is compiled once, in this library. It works on these traits. The code that is compiled for each state is
//! behind them, in `derived.rs`.

mod also_null;
pub(crate) mod derived;
mod given_packet;
mod input;
mod packet;
mod state;
mod state_type;
mod stored_packet;
mod writes;

pub(crate) use also_null::also_null;
pub(crate) use derived::{InputOf, OtherState, UpdateJson, WritesOf, borrowed, json_of, owned, shared};
pub(crate) use given_packet::given_packet;
pub(crate) use input::{ErasedInput, ErasedStart};
pub(crate) use packet::ReadPacket;
pub use packet::{Packet, PacketType, Payload};
pub(crate) use state::ErasedState;
pub(crate) use state_type::StateType;
pub(crate) use state_type::StateTypeOf;
pub(crate) use stored_packet::packet_json;
pub(crate) use writes::ErasedWrites;
pub(crate) use writes::{ErasedUndos, TaskWrites};
