use serde::Serialize;

use crate::engine::KeyFn;
use crate::erased::PacketType;
use crate::state::{GraphState, canonical};

use super::function::{ArgsOf, CallWith, ExtractAll, Signature};
use super::reads_packet::{PacketKind, ReadsPacket};

/// A cache key: a value that can be serialized.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a cache key",
    label = "returns `{Self}`, which cannot be serialized",
    note = "a key implements `serde::Serialize`: a string, a number, a tuple of these, or a type that derives it"
)]
pub trait CacheKey: Serialize {}

#[diagnostic::do_not_recommend]
impl<T: Serialize> CacheKey for T {}

/// A key function whose result is a key.
pub trait KeyReturns {}

impl<Args, Out: CacheKey> KeyReturns for Signature<Args, Out> {}

/// A key function that fits a graph over `S` with context `D`.
pub trait KeyFor<S: GraphState, D, F> {
    /// Returns the type of the packet that the function reads.
    #[doc(hidden)]
    fn packet() -> Option<PacketType>;

    /// Boxes the function.
    #[doc(hidden)]
    fn erase(key: F) -> KeyFn;
}

impl<S, D, F, Args, Out> KeyFor<S, D, F> for Signature<Args, Out>
where
    S: GraphState,
    D: Send + Sync + 'static,
    Args: ArgsOf<S, D, Fixed: ExtractAll<S, D>> + ReadsPacket,
    F: for<'a> CallWith<'a, Args::Fixed> + Send + Sync + 'static,
    // The key may borrow from the parameters, so it is not always `Out`.
    for<'a> <F as CallWith<'a, Args::Fixed>>::Out: CacheKey,
{
    fn packet() -> Option<PacketType> {
        Args::Packet::packet_type()
    }

    fn erase(key: F) -> KeyFn {
        Box::new(move |from| {
            let (args, _) = Args::Fixed::extract_all(from)?;
            canonical(&key.call_with(args)).map_err(|why| InvalidKey(why).into())
        })
    }
}

/// The error of a key without a canonical string.
#[derive(Debug, thiserror::Error)]
#[error("its cache key {0}")]
struct InvalidKey(String);
