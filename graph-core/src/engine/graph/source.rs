use std::sync::Arc;

use crate::engine::context::ErasedContext;
use crate::erased::{ErasedState, Packet};
use crate::error::NodeError;
use crate::step::Leave;

/// The values that a task can pass to its node, whatever the types of the state and of the context.
#[derive(Clone, Copy)]
pub struct ErasedSource<'a> {
    pub(crate) state: &'a dyn ErasedState,
    pub(crate) packet: Option<&'a Packet>,
    pub(crate) ctx: &'a dyn ErasedContext,
}

/// The route function after a node, or after START.
pub(crate) type Decider = Box<dyn for<'a> Fn(ErasedSource<'a>) -> Result<Leave, NodeError> + Send + Sync>;

/// The function that returns the cache key of a task.
pub(crate) type KeyFn = Box<dyn for<'a> Fn(ErasedSource<'a>) -> Result<Arc<str>, NodeError> + Send + Sync>;
