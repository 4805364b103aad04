//! A subgraph call that is not stored.

use crate::engine::Driver;
use crate::engine::begin::begin;
use crate::engine::cx::Context;
use crate::engine::ephemeral::Ephemerals;
use crate::engine::erased::ErasedState;
use crate::engine::parts::Parts;
use crate::engine::persist::Lease;
use crate::error::Error;
use std::sync::Arc;

use super::CallWrites;
use super::call::{Beginning, Call};
use super::place::Place;

/// A subgraph call that has begun.
pub(in crate::engine) struct Begun {
    pub(in crate::engine) driver: Driver,
    /// The state at the beginning; only for a call with an input.
    pub(in crate::engine) state: Option<Arc<dyn ErasedState>>,
    /// Locks the namespace against other calls; only for a call that is stored.
    pub(in crate::engine) lease: Option<Lease>,
}

/// Begins a call in memory.
pub(super) fn begin_call(call: &Call<'_>, place: &Place, cx: &Context) -> Result<Begun, Error> {
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
    let (state, begun, returned) = match &call.beginning {
        Beginning::On(state) => {
            // The ephemeral fields may have been written for the nodes that run first.
            ephemerals.settle(0, &[], |_| true);
            (state.copied(), None, Some(Box::new(CallWrites::default())))
        }
        Beginning::With(input) => {
            let (state, given) = begin(input()).map_err(|kind| parts.error(kind))?;
            ephemerals.settle(0, &[], |field| given.contains(&field));
            let begun = Arc::clone(&state);
            (state, Some(begun), None)
        }
    };
    let mut driver = parts.driver(state, ephemerals)?;
    driver.returned = returned;
    driver.leave_start()?;
    Ok(Begun { driver, state: begun, lease: None })
}
