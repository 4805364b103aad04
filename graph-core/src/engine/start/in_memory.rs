//! The start of a run in memory, and the plan of the first superstep of every run.

use std::sync::Arc;

use crate::engine::apply::{Ephemerals, call_route};
use crate::engine::context::{AppContext, RunShared};
use crate::engine::graph::{Compiled, ErasedSource};
use crate::engine::run::Driver;
use crate::engine::task::start_failed;
use crate::erased::ErasedInput;
use crate::error::Error;
use crate::options::RunOptions;
use crate::plan::plan;
use crate::step::Leave;
use crate::stream::Events;

use super::initial_state::initial_state;
use super::parts::Parts;

impl Driver {
    /// Applies the input and plans the first superstep.
    pub(crate) fn start(
        graph: &Arc<Compiled>,
        input: Box<dyn ErasedInput>,
        context: Arc<dyn AppContext>,
        shared: RunShared,
        options: RunOptions,
        events: Option<Events>,
    ) -> Result<Self, Error> {
        let parts = Parts::new(Arc::clone(graph), context, shared, options, events)?.can_run()?;
        let (state, given) = initial_state(input).map_err(|kind| parts.error(kind))?;
        let mut ephemerals = Ephemerals::new(&parts.graph.ephemeral);
        ephemerals.record_writes(0, &[], |field| given.contains(&field));
        let mut driver = parts.driver(state, ephemerals)?;
        driver.leave_start()?;
        Ok(driver)
    }

    /// Plans the first superstep: follows the edges from START, or asks its route function.
    pub(crate) fn leave_start(&mut self) -> Result<(), Error> {
        let mut leave = match &self.graph.start {
            None => Leave::ByEdges,
            Some(decide) => {
                call_route(decide, ErasedSource { state: &*self.state, packet: None, ctx: &*self.ctx })
                    .map_err(|failed| self.error(start_failed(failed)))?
            }
        };
        plan(&self.graph.topology, &mut self.progress, self.step, std::iter::once((None, &mut leave)));
        self.ephemerals.keep(self.step, &self.progress);
        self.take_plan();
        Ok(())
    }
}
