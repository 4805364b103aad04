use std::marker::PhantomData;
use std::sync::Arc;

use serde::Serialize;

use crate::state::{GraphState, canonical};

use super::param::{ErasedSource, Extract, FixedParam};
use super::{ArgsOf, InNode, NodeError, PacketKind, PacketType, ReadsPacket};

/// A function that returns the cache key of a task. It may read the same parameters as the node.
///
/// This trait only recognises the shape. The place of use checks that the graph can provide the parameters.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a key function",
    label = "not a function that reads the state and returns a key",
    note = "a key function is a plain `fn(&State) -> Key`, or a closure `|state: &State| ..` whose parameters have their types"
)]
pub trait KeyBy<M>: Sized {
    /// The function's parameters and result.
    type Signature;
}

/// The parameters and the result of a key function.
pub struct KeySignature<Args, Out>(PhantomData<fn(Args) -> Out>);

/// A cache key: a value that can be serialized.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a cache key",
    label = "returns `{Self}`, which cannot be serialized",
    note = "a key implements `serde::Serialize`: a string, a number, a tuple of these, or a type that derives it"
)]
pub trait CacheKey: Serialize {}

#[diagnostic::do_not_recommend]
impl<T: Serialize> CacheKey for T {}

/// A key function whose parameters a graph over `S` with context `D` can provide.
pub trait KeyReads<S, D> {}

/// A key function whose result is a key.
pub trait KeyReturns {}

impl<S, D, Args: ArgsOf<S, D> + ReadsPacket<Packet: InNode>, Out> KeyReads<S, D> for KeySignature<Args, Out> {}

impl<Args, Out: CacheKey> KeyReturns for KeySignature<Args, Out> {}

pub(crate) type KeyFn = Box<dyn for<'a> Fn(ErasedSource<'a>) -> Result<Arc<str>, NodeError> + Send + Sync>;

/// A key function that fits a graph over `S` with context `D`.
pub trait KeyFor<S: GraphState, D, F> {
    /// Returns the type of the packet that the function reads.
    #[doc(hidden)]
    fn packet() -> Option<PacketType>;

    /// Boxes the function.
    #[doc(hidden)]
    fn erase(key: F) -> KeyFn;
}

impl<S, D, F, Args, Out> KeyFor<S, D, F> for KeySignature<Args, Out>
where
    S: GraphState,
    Args: ArgsOf<S, D> + ReadsPacket,
    Args::Fixed: RunsKey<S, D, F>,
{
    fn packet() -> Option<PacketType> {
        Args::Packet::packet_type()
    }

    fn erase(key: F) -> KeyFn {
        <Args::Fixed as RunsKey<S, D, F>>::erase(key)
    }
}

/// Parameters with which a key function can be called.
pub trait RunsKey<S: GraphState, D, F> {
    /// Boxes the function.
    #[doc(hidden)]
    fn erase(key: F) -> KeyFn;
}

/// Calls a function with its parameters borrowed for `'a`. The result may borrow from them.
pub trait KeyWith<'a, Args> {
    /// The parameters.
    type At;

    /// Returns the key as a canonical string. The error is a message.
    #[doc(hidden)]
    fn key_with(&self, args: Self::At) -> Result<Arc<str>, String>;
}

/// The error of a missing argument. `compile()` prevents it.
#[derive(Debug, thiserror::Error)]
#[error("the key function was called without a value that it reads")]
struct SourceMissing;

/// The error of a key without a canonical string.
#[derive(Debug, thiserror::Error)]
#[error("its cache key {0}")]
struct InvalidKey(String);

macro_rules! keys {
    ($(($($param:ident $value:ident),+))*) => {$(
        #[diagnostic::do_not_recommend]
        impl<F, Out, $($param),+> KeyBy<fn($($param),+) -> Out> for F
        where
            F: Fn($($param),+) -> Out,
        {
            type Signature = KeySignature<($($param,)+), Out>;
        }

        impl<'a, F, Out, $($param: FixedParam),+> KeyWith<'a, ($($param,)+)> for F
        where
            F: Fn($($param::At<'a>),+) -> Out,
            Out: CacheKey,
        {
            type At = ($($param::At<'a>,)+);

            fn key_with(&self, ($($value,)+): Self::At) -> Result<Arc<str>, String> {
                canonical(&self($($value),+))
            }
        }

        impl<S, D, F, $($param),+> RunsKey<S, D, F> for ($($param,)+)
        where
            S: GraphState,
            D: Send + Sync + 'static,
            $($param: Extract<S, D>,)+
            F: for<'a> KeyWith<'a, ($($param,)+), At = ($($param::At<'a>,)+)> + Send + Sync + 'static,
        {
            fn erase(key: F) -> KeyFn {
                Box::new(move |from| {
                    let from = from.typed::<S, D>()?;
                    $(let Some($value) = $param::extract(from) else { return Err(SourceMissing.into()) };)+
                    key.key_with(($($value,)+)).map_err(|why| InvalidKey(why).into())
                })
            }
        }
    )*};
}

keys! { (A a) (A a, B b) (A a, B b, C c) }
