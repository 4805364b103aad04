use std::sync::Arc;

use crate::error::{Error, ErrorKind};
use crate::graph::Graph;
use crate::node::{Leave, Source, Step};
use crate::plan::plan;
use crate::reducers::Stamp;
use crate::state::{FieldWrite as _, GraphState, Input as _};
use crate::stream::Events;

use super::apply::{Rejected, Undos, broken_rules, fold, fold_unchecked};
use super::attempt::contained;
use super::decide::ask;
use super::encoded::{Keep, NotEncoded};
use super::ephemeral::Ephemerals;
use super::ledger::Ledger;
use super::options::RunOptions;
use super::parts::Parts;
use super::reject::reject;
use super::task::{Failed, Finished, finish};
use super::{Driver, RunShared};

impl<S: GraphState, D: Send + Sync + 'static> Driver<S, D> {
    /// Applies the input and plans the first superstep.
    pub(crate) fn start(
        graph: &Graph<S, D>,
        input: S::Input,
        context: Arc<D>,
        shared: RunShared,
        options: RunOptions,
        events: Option<Events<S>>,
    ) -> Result<Self, Error> {
        let parts = Parts::new(Arc::clone(&graph.0), context, shared, options, events)?.can_run()?;
        let (state, given) = begin::<S>(input).map_err(|kind| parts.error(kind))?;
        let mut ephemerals = Ephemerals::new(&parts.graph.ephemeral);
        ephemerals.settle(0, &[], |field| given.contains(&field));
        let mut driver = parts.driver(state, ephemerals)?;
        driver.leave_start()?;
        Ok(driver)
    }

    /// Plans the first superstep: follows the edges from START, or asks its route function.
    pub(super) fn leave_start(&mut self) -> Result<(), Error> {
        let leave = match &self.graph.start {
            None => Leave::ByEdges,
            Some(decide) => ask(decide, Source { state: &*self.state, packet: None, ctx: &self.ctx })
                .map_err(|failed| self.error(start_failed(failed)))?,
        };
        plan(&self.graph.topology, &mut self.progress, self.step, std::iter::once((None, &leave)));
        self.ephemerals.keep(self.step, &self.progress);
        self.take_plan();
        Ok(())
    }
}

/// Returns the state that an input makes, and the fields that the input sets.
pub(super) fn begin<S: GraphState>(input: S::Input) -> Result<(S, Vec<usize>), ErrorKind> {
    let start = input.into_start();
    let (mut state, mut given) = (start.state, start.given);
    let result = input_result::<S>(start.update)?;
    given.extend(result.writes.iter().map(|write| write.field()));
    let mut results = vec![Some(result)];
    // An input is checked only against the rules of the fields that it sets: the invariant may need fields that no
    // node has filled yet.
    fold_unchecked(&mut state, &mut results, &mut Ledger::default(), &mut Undos::new())
        .and_then(|()| match broken_rules(&state, &given) {
            broken if broken.is_empty() => Ok(()),
            broken => Err(Rejected::Rules(broken)),
        })
        .map_err(|rejected| reject(&[], 0, &[], &mut results, rejected))?;
    Ok((state, given))
}

/// Returns the state with which a new run of any graph over `S` begins.
pub(crate) fn started<S: GraphState>(input: S::Input) -> Result<S, Error> {
    begin(input).map(|(state, _)| state).map_err(|kind| Error::new(S::NAME, kind))
}

/// Returns the state with an update applied as a node's update would be; all or nothing.
pub(crate) fn updated<S: GraphState>(mut state: S, update: S::Update) -> Result<S, Error> {
    let result = input_result(update).map_err(|kind| Error::new(S::NAME, kind))?;
    let mut results = vec![Some(result)];
    match fold(&mut state, &mut results, &mut Ledger::default(), &mut Undos::new()) {
        Ok(()) => Ok(state),
        Err(rejected) => {
            let kind = reject(&[], 0, &[], &mut results, rejected);
            Err(Error::new(S::NAME, kind).with_state(Arc::new(state)))
        }
    }
}

fn input_result<S: GraphState>(update: S::Update) -> Result<Finished<S>, ErrorKind> {
    from_outside(update, Stamp::new("START", 0, 0), Keep::Nothing)
}

/// Prepares an update that no task made.
pub(super) fn from_outside<S: GraphState>(
    update: S::Update,
    stamp: Stamp<'_>,
    keep: Keep,
) -> Result<Finished<S>, ErrorKind> {
    contained(|| finish::<S>(Ok(Step::update(update)), stamp, keep))
        .map_err(Failed::Panic)
        .and_then(|finished| finished)
        .map_err(|failed| {
            let first = failed.into_failure(stamp.node, stamp.step, 1);
            NotEncoded::named(ErrorKind::Node { first, others: Vec::new() })
        })
}

pub(super) fn start_failed(failed: Failed) -> ErrorKind {
    ErrorKind::Node { first: failed.into_failure("START", 0, 1), others: Vec::new() }
}
