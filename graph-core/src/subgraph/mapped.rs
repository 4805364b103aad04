use std::marker::PhantomData;
use std::sync::Arc;

use crate::engine::child::{CallStart, ErasedCallResult};
use crate::erased::{InputOf, Packet, Payload, owned};
use crate::error::NodeError;
use crate::node::{Carries, NoPacket};
use crate::state::{GraphState, PartOf};
use crate::step::{IntoStep, Step};

use super::wiring::{Fits, WiredTo, Wiring};

/// The result of a subgraph call with a state of its own.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CallResult<C> {
    /// The state at the end of the call.
    pub state: C,
    /// The state at the beginning of the call, with its input applied. If the subgraph keeps its state on the thread,
    /// both states include the results of earlier calls.
    pub begun: C,
}

impl<C> CallResult<C> {
    /// Returns the items that this call has appended to a list, or all items if the list has become shorter.
    ///
    /// Pass these items, not the whole list, to a list of the parent state with the `append` reducer. Otherwise earlier
    /// items would be appended again.
    pub fn appended<T>(&self, list: impl Fn(&C) -> &Vec<T>) -> &[T] {
        let (before, all) = (list(&self.begun).len(), list(&self.state));
        all.get(before..).unwrap_or(all)
    }
}

/// The wiring of a subgraph with a state of its own: one function makes its input from the parent state, another makes
/// the node's result from the final state.
pub struct Mapped<R, I, B, O> {
    pub(super) into: I,
    pub(super) back: B,
    pub(super) types: PhantomData<fn(R) -> O>,
}

/// The wiring of a subgraph that is called once for each packet.
pub struct MappedPacket<R, P, I, B, O> {
    pub(super) into: I,
    pub(super) back: B,
    pub(super) types: PhantomData<fn(R, P) -> O>,
}

impl<C, R, I, B, O> Wiring<C> for Mapped<R, I, B, O>
where
    R: 'static,
    I: Send + Sync + 'static,
    B: Send + Sync + 'static,
    O: Send + 'static,
{
    type Reads = R;
    type Output = O;
    type Packet = NoPacket;
    type Key = dyn Fn(&R) -> String + Send + Sync;
}

impl<C, S, R, I, B, O> WiredTo<C, S> for Mapped<R, I, B, O>
where
    C: GraphState,
    S: GraphState,
    R: PartOf<S> + Sync + 'static,
    I: Fn(&R) -> C::Input + Send + Sync + 'static,
    B: Fn(CallResult<C>) -> O + Send + Sync + 'static,
    O: IntoStep<S> + Send + 'static,
{
    fn start<'a>(&'a self, state: &'a S, _: Option<&'a Packet>) -> Option<CallStart<'a>> {
        Some(CallStart::WithInput(Box::new(move || Box::new(InputOf::<C>((self.into)(R::part(state)))))))
    }

    fn key(key: &Self::Key, state: &S, _: Option<&Packet>) -> Option<String> {
        Some(key(R::part(state)))
    }

    fn finish(&self, call_result: ErasedCallResult) -> Result<Step<S>, NodeError> {
        (self.back)(returned(call_result)?).into_step()
    }
}

impl<C, R, P, I, B, O> Wiring<C> for MappedPacket<R, P, I, B, O>
where
    R: 'static,
    P: Payload,
    I: Send + Sync + 'static,
    B: Send + Sync + 'static,
    O: Send + 'static,
{
    type Reads = R;
    type Output = O;
    type Packet = Carries<P>;
    type Key = dyn Fn(&R, &P) -> String + Send + Sync;
}

impl<C, S, R, P, I, B, O> WiredTo<C, S> for MappedPacket<R, P, I, B, O>
where
    C: GraphState,
    S: GraphState,
    R: PartOf<S> + Sync + 'static,
    P: Payload,
    I: Fn(&R, &P) -> C::Input + Send + Sync + 'static,
    B: Fn(CallResult<C>) -> O + Send + Sync + 'static,
    O: IntoStep<S> + Send + 'static,
{
    fn start<'a>(&'a self, state: &'a S, packet: Option<&'a Packet>) -> Option<CallStart<'a>> {
        let packet = packet?.get::<P>()?;
        Some(CallStart::WithInput(Box::new(move || {
            Box::new(InputOf::<C>((self.into)(R::part(state), packet)))
        })))
    }

    fn key(key: &Self::Key, state: &S, packet: Option<&Packet>) -> Option<String> {
        Some(key(R::part(state), packet?.get::<P>()?))
    }

    fn finish(&self, call_result: ErasedCallResult) -> Result<Step<S>, NodeError> {
        (self.back)(returned(call_result)?).into_step()
    }
}

impl<C, S, R: PartOf<S>, I, B, O> Fits<C, S> for Mapped<R, I, B, O> where Self: Wiring<C> {}

impl<C, S, R: PartOf<S>, P, I, B, O> Fits<C, S> for MappedPacket<R, P, I, B, O> where Self: Wiring<C> {}

fn returned<C: GraphState>(call_result: ErasedCallResult) -> Result<CallResult<C>, NodeError> {
    let other = |_| NodeError::from(OtherState);
    let begun = call_result.begun.unwrap_or_else(|| Arc::clone(&call_result.state));
    Ok(CallResult { begun: owned(begun).map_err(other)?, state: owned(call_result.state).map_err(other)? })
}

/// The state of a subgraph call is of another type. The types of the builder prevent it.
#[derive(Debug, thiserror::Error)]
#[error("internal error: the state of the subgraph call is of another type; please report this")]
struct OtherState;
