//! A subgraph call that is not stored.

use std::sync::Arc;

use crate::engine::apply::{CallWrites, Ephemerals};
use crate::engine::context::Context;
use crate::engine::journal::NamespaceLock;
use crate::engine::run::Driver;
use crate::engine::start::{Parts, initial_state};
use crate::erased::ErasedState;
use crate::error::Error;

use super::call::{Call, CallStart};
use super::place::CallPlace;

/// A subgraph call that has begun.
pub(crate) struct StartedCall {
    pub(crate) driver: Driver,
    /// The state at the beginning; only for a call with an input.
    pub(crate) state: Option<Arc<dyn ErasedState>>,
    /// Locks the namespace against other calls; only for a call that is stored.
    pub(crate) lock: Option<NamespaceLock>,
}

/// Begins a call in memory.
pub(crate) fn begin_call(call: &Call<'_>, place: &CallPlace, cx: &Context) -> Result<StartedCall, Error> {
    let shared = place.shared(call, cx);
    let parts = Parts::new(
        call.graph.0.clone(),
        call.context.clone(),
        shared,
        place.options(call, cx),
        place.listeners(call.graph.0.state, cx),
    )?
    .can_run()?;
    let mut ephemerals = Ephemerals::new(&parts.graph.ephemeral);
    let (state, begun, returned) = match &call.start {
        CallStart::OnParentState(state) => {
            // The ephemeral fields may have been written for the nodes that run first.
            ephemerals.record_writes(0, &[], |_| true);
            (state.copied(), None, Some(Box::new(CallWrites::default())))
        }
        CallStart::WithInput(input) => {
            let (state, given) = initial_state(input()).map_err(|kind| parts.error(kind))?;
            ephemerals.record_writes(0, &[], |field| given.contains(&field));
            let begun = Arc::clone(&state);
            (state, Some(begun), None)
        }
    };
    let mut driver = parts.driver(state, ephemerals)?;
    driver.returned = returned;
    driver.leave_start()?;
    driver.pass_reported_breakpoints(&place.task);
    Ok(StartedCall { driver, state: begun, lock: None })
}
