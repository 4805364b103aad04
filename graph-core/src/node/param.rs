use std::any::Any;
use std::marker::PhantomData;

use serde::de::DeserializeOwned;

use crate::engine::{Context, ContextWith, ErasedSource};
use crate::erased::Packet;
use crate::error::{NodeError, NodeFailure};
use crate::state::PartOf;

use crate::step::ReadState;

/// A type `T` that a node can take as `&T`.
///
/// A type that can be deserialized is a packet. A state is not one, so deriving both `GraphState` and `Deserialize` fails
/// here. A state is read through its `Input` or from a checkpoint.
#[diagnostic::on_unimplemented(
    message = "a node cannot read `{Self}`",
    label = "`{Self}` is neither a state, nor a context, nor a packet",
    note = "a packet implements `serde::Serialize` and `serde::Deserialize`, so that a checkpoint can store it"
)]
pub trait StateOrPacket: Sync + 'static {
    /// One of the roles below.
    type Role;
}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + Sync + 'static> StateOrPacket for T {
    type Role = IsPacket;
}

#[diagnostic::do_not_recommend]
impl StateOrPacket for Context {
    type Role = IsContext;
}

#[diagnostic::do_not_recommend]
impl<D: Send + Sync + 'static> StateOrPacket for ContextWith<D> {
    type Role = IsContextWith;
}

#[diagnostic::do_not_recommend]
impl StateOrPacket for NodeFailure {
    type Role = IsFailure;
}

/// Role: the state, or a state flattened into it.
#[derive(Debug)]
pub enum IsState {}
/// Role: a payload sent to the node.
#[derive(Debug)]
pub enum IsPacket {}
/// Role: the run's [`Context`].
#[derive(Debug)]
pub enum IsContext {}
/// Role: the run's [`ContextWith`].
#[derive(Debug)]
pub enum IsContextWith {}
/// Role: the failure that an error handler handles.
#[derive(Debug)]
pub enum IsFailure {}
/// Role: a view, which is passed by value.
#[derive(Debug)]
pub enum IsView {}

/// The type of one parameter of a node: `&T`, or a view by value.
#[diagnostic::on_unimplemented(
    message = "a node cannot have a parameter of type `{Self}`",
    label = "takes `{Self}`",
    note = "a node takes `&State`, a view (`#[derive(StateView)]`), `&Context`, `&ContextWith<_>` or a packet by reference; the function of a workflow takes its input by reference, `Option<&T>`, `&Context` or `&ContextWith<_>`",
    note = "tasks share the state, so no node changes it in place: it returns an update"
)]
pub trait Param {
    /// The parameter without its lifetime.
    type Fixed: FixedParam;
}

/// A parameter's type for any lifetime.
pub trait FixedParam: 'static {
    /// The role of the parameter.
    type Role;
    /// [`Carries<T>`](Carries) with the type of the payload, or [`NoPacket`].
    type Packet;
    /// The parameter borrowed for `'a`.
    type At<'a>: Send;

    /// Returns the state that the parameter is, or is a part of.
    #[doc(hidden)]
    fn state() -> Option<ReadState> {
        None
    }
}

/// A parameter that is not a packet.
#[derive(Debug)]
pub enum NoPacket {}

/// A parameter that is a packet of type `T`.
pub struct Carries<T>(PhantomData<fn() -> T>);

/// A failure and the packet `P`; only error handlers read it.
pub struct WithFailure<P>(PhantomData<fn() -> P>);

/// The lifetime-free name of `&T`.
pub struct ByRef<T>(PhantomData<fn() -> T>);

impl<T: StateOrPacket<Role: Role<T>>> Param for &T {
    type Fixed = ByRef<T>;
}

impl<T: StateOrPacket<Role: Role<T>>> FixedParam for ByRef<T> {
    type Role = T::Role;
    type Packet = <T::Role as Role<T>>::Packet;
    type At<'a> = &'a T;

    fn state() -> Option<ReadState> {
        <T::Role as Role<T>>::state()
    }
}

/// The role of a parameter `&T`.
#[diagnostic::on_unimplemented(
    message = "a node must take the view `{T}` by value",
    label = "reads `&{T}`",
    note = "a view already borrows: write `{T}` instead of `&{T}`"
)]
pub trait Role<T> {
    /// [`Carries<T>`](Carries) for a packet, [`NoPacket`] for anything else.
    type Packet;

    /// Returns `T` if it is a state.
    #[doc(hidden)]
    fn state() -> Option<ReadState>
    where
        T: 'static,
    {
        None
    }
}

#[diagnostic::do_not_recommend]
impl<T> Role<T> for IsState {
    type Packet = NoPacket;

    fn state() -> Option<ReadState>
    where
        T: 'static,
    {
        Some(ReadState::of::<T>())
    }
}

#[diagnostic::do_not_recommend]
impl<T> Role<T> for IsContext {
    type Packet = NoPacket;
}

#[diagnostic::do_not_recommend]
impl<T> Role<T> for IsContextWith {
    type Packet = NoPacket;
}

#[diagnostic::do_not_recommend]
impl<T> Role<T> for IsFailure {
    type Packet = WithFailure<NoPacket>;
}

#[diagnostic::do_not_recommend]
impl<T: 'static> Role<T> for IsPacket {
    type Packet = Carries<T>;
}

/// The values that a task can pass to its node.
pub struct Source<'a, S, D> {
    /// The state before the superstep.
    pub state: &'a S,
    /// The packet that was sent to the task.
    pub packet: Option<&'a Packet>,
    /// The run's context.
    pub ctx: &'a ContextWith<D>,
}

impl<'a> ErasedSource<'a> {
    /// Returns the values with their types.
    ///
    /// # Errors
    /// They are of other types. The types of a graph's builder prevent it.
    #[inline]
    pub(crate) fn typed<S: 'static, D: 'static>(self) -> Result<Source<'a, S, D>, NodeError> {
        let (state, ctx): (&dyn Any, &dyn Any) = (self.state, self.ctx);
        match (state.downcast_ref(), ctx.downcast_ref()) {
            (Some(state), Some(ctx)) => Ok(Source { state, packet: self.packet, ctx }),
            _ => Err(OtherTypes.into()),
        }
    }
}

/// A node was called with a state or a context of another type.
#[derive(Debug, thiserror::Error)]
#[error("internal error: the node belongs to a graph with another state or context; please report this")]
struct OtherTypes;

impl<S, D> Clone for Source<'_, S, D> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S, D> Copy for Source<'_, S, D> {}

/// A parameter that a graph over `S` with context `D` can provide.
#[diagnostic::on_unimplemented(
    message = "a node of this graph cannot read `{Self}`",
    label = "reads `{Self}`, which is not a view of the state `{S}`"
)]
pub trait Extract<S, D>: FixedParam {
    /// Returns the parameter's value; `None` if the task has no such packet.
    fn extract<'a>(from: Source<'a, S, D>) -> Option<Self::At<'a>>;
}

impl<S, D, T> Extract<S, D> for ByRef<T>
where
    T: StateOrPacket<Role: Role<T> + ExtractRef<T, S, D>>,
{
    fn extract<'a>(from: Source<'a, S, D>) -> Option<&'a T> {
        <T::Role as ExtractRef<T, S, D>>::extract_ref(from)
    }
}

/// Extracts the `&T` of a role.
pub trait ExtractRef<T, S, D> {
    /// See [`Extract::extract`].
    fn extract_ref<'a>(from: Source<'a, S, D>) -> Option<&'a T>;
}

impl<T: PartOf<S>, S, D> ExtractRef<T, S, D> for IsState {
    fn extract_ref<'a>(from: Source<'a, S, D>) -> Option<&'a T> {
        Some(T::part(from.state))
    }
}

impl<T: Any, S, D> ExtractRef<T, S, D> for IsPacket {
    fn extract_ref<'a>(from: Source<'a, S, D>) -> Option<&'a T> {
        from.packet?.get()
    }
}

/// Exists only so that a view by reference is one error, the missing [`Role`].
impl<T, S, D> ExtractRef<T, S, D> for IsView {
    fn extract_ref<'a>(_: Source<'a, S, D>) -> Option<&'a T> {
        None
    }
}

impl<S, D> ExtractRef<Context, S, D> for IsContext {
    fn extract_ref<'a>(from: Source<'a, S, D>) -> Option<&'a Context> {
        Some(from.ctx)
    }
}

impl<S, D> ExtractRef<NodeFailure, S, D> for IsFailure {
    fn extract_ref<'a>(from: Source<'a, S, D>) -> Option<&'a NodeFailure> {
        let cx: &Context = from.ctx;
        cx.failure()
    }
}

impl<C, S, D> ExtractRef<ContextWith<C>, S, D> for IsContextWith
where
    C: ContextOf<D>,
{
    fn extract_ref<'a>(from: Source<'a, S, D>) -> Option<&'a ContextWith<C>> {
        Some(C::same(from.ctx))
    }
}

/// The application context of a node, which must be the context `D` of its graph.
#[diagnostic::on_unimplemented(
    message = "a node of this graph cannot read the context `{Self}`",
    label = "reads `ContextWith<{Self}>`, but the graph's context is `{D}`",
    note = "build the graph with `StateGraph::<_>::with_context::<{Self}>()`, or the workflow with `Workflow::with_context(..)`"
)]
pub trait ContextOf<D>: Sized {
    #[doc(hidden)]
    fn same(ctx: &ContextWith<D>) -> &ContextWith<Self>;
}

impl<D> ContextOf<D> for D {
    fn same(ctx: &ContextWith<D>) -> &ContextWith<D> {
        ctx
    }
}
