//! States and updates whose type the engine does not name.
//!
//! The engine is compiled once, in this library. It works on these traits. The code that is compiled for each state is
//! behind them, in `state/erase.rs`.

mod context;
mod input;
mod state;
mod state_type;
mod writes;

pub(crate) use context::{AppContext, ErasedContext, ErasedContexts};
pub(crate) use input::{ErasedInput, ErasedStart};
pub(crate) use state::ErasedState;
pub(crate) use state_type::{StateType, StateTypeOf};
pub(crate) use writes::{ErasedUndos, ErasedWrites, TaskWrites};
