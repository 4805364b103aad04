//! Opens a run and executes it, whatever the types of its state and context.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use crate::Outcome;
use crate::engine::{
    About, AppContext, Driver, ErasedGraph, ParentRun, RunMetadata, RunShared, RunSpan, TaskMemories, caught,
    caught_call,
};
use crate::erased::{ErasedInput, ErasedState};
use crate::error::{Error, ErrorKind};
use crate::options::{Metadata, RunOptions};
use crate::stream::{Events, NodeEvent, Sink};

use super::begun::BoxedResult;

/// The outcome of a run.
pub(crate) type ErasedOutcome = Outcome<Arc<dyn ErasedState>>;

/// The future of a run, with the number of its last superstep and its outcome.
pub(crate) type Running = BoxedResult<(u64, ErasedOutcome)>;

/// The future of a run that is being opened.
pub(crate) type OpeningRun = BoxedResult<Opened>;

/// The target of a run: an input in memory, or a thread.
pub trait ErasedTarget: Send {
    /// Describes the run for its tracing span.
    #[doc(hidden)]
    fn about(&self) -> About<'_>;

    /// Opens the run, up to its first superstep.
    #[doc(hidden)]
    fn open(self: Box<Self>, opening: Opening) -> OpeningRun;
}

/// The parameters with which a target opens a run.
pub struct Opening {
    pub(crate) graph: ErasedGraph,
    pub(crate) context: Arc<dyn AppContext>,
    pub(crate) options: RunOptions,
    pub(crate) metadata: Metadata,
    pub(crate) events: Option<Events>,
    pub(crate) spans: RunSpan,
}

/// A run that has been opened.
pub enum Opened {
    /// The run has supersteps to execute.
    Started(OpenedRun),
    /// There is nothing to run. Holds the number of the last superstep and the outcome.
    Ended(u64, ErasedOutcome),
}

/// A run with supersteps to execute.
pub struct OpenedRun(pub(crate) Box<Driver>);

impl OpenedRun {
    /// Returns the driver, and records the run id in the span. The driver stays in its box: futures that hold it by value
    /// would have room for several.
    pub(crate) fn into_driver(self) -> Box<Driver> {
        let Self(driver) = self;
        driver.spans.has_id(driver.run_id());
        driver
    }
}

impl Opening {
    /// Begins the run's tracing span, which is empty without a subscriber.
    pub(crate) fn trace(&mut self, target: &dyn ErasedTarget) -> RunSpan {
        self.spans = RunSpan::begin(&self.graph.0.name, || target.about());
        self.spans.clone()
    }

    /// Returns a copy, for another attempt to open the run.
    pub(crate) fn again(&self) -> Self {
        Self {
            graph: self.graph.clone(),
            context: Arc::clone(&self.context),
            options: self.options.clone(),
            metadata: self.metadata.clone(),
            events: self.events.clone(),
            spans: self.spans.clone(),
        }
    }

    /// Fails if the run was cancelled before it began.
    pub(crate) fn check_not_cancelled(&self) -> Result<(), Error> {
        match &self.options.stop {
            Some(stop) if stop.is_cancelled() => Err(self.stopped_before_start()),
            _ => Ok(()),
        }
    }

    /// Returns the error of a run that was stopped before it began.
    pub(crate) fn stopped_before_start(&self) -> Error {
        Error::new(&self.graph.0.name, ErrorKind::Cancelled { step: None, unfinished: Vec::new() })
    }

    /// Creates the values that all tasks of the run share.
    pub(crate) fn shared(&self, thread: Option<Arc<str>>) -> RunShared {
        let wants_node_events = |events: &Events| NodeEvent::MODES.iter().any(|mode| events.wants(*mode));
        let sink = self.events.clone().filter(wants_node_events);
        let listeners = self.events.clone().map(|events| Arc::new(events) as Arc<dyn Sink>);
        RunShared {
            names: Arc::clone(&self.graph.0.names),
            metadata: RunMetadata::Own(self.metadata.clone()),
            memories: thread
                .as_ref()
                .map_or_else(TaskMemories::default, |thread| TaskMemories::with_scope(Arc::clone(thread))),
            steps: None,
            script: None,
            store: self.graph.1.clone(),
            cache: self.graph.2.clone(),
            longest_sleep: self.options.longest_sleep,
            stop: Mutex::new(self.options.stop.clone()),
            spans: self.spans.clone(),
            thread,
            sink: sink.map(|events| Arc::new(events) as Arc<dyn Sink>),
            parent_run: ParentRun {
                listeners,
                aliases: self.graph.0.aliases.clone(),
                ..ParentRun::default()
            },
        }
    }
}

/// The target of a run without a thread: an input, in memory.
pub(super) struct FromInput(pub(super) Box<dyn ErasedInput>);

impl ErasedTarget for FromInput {
    fn about(&self) -> About<'_> {
        About { begin: "input", thread: None, run_id: None }
    }

    fn open(self: Box<Self>, opening: Opening) -> OpeningRun {
        Box::pin(async move {
            let shared = opening.shared(None);
            let Opening { graph, context, options, events, .. } = opening;
            Driver::start(&graph.0, self.0, context, shared, options, events)
                .map(|driver| Opened::Started(OpenedRun(Box::new(driver))))
        })
    }
}

/// Executes a run until it finishes or pauses.
pub(super) fn execute(target: Box<dyn ErasedTarget>, opening: Opening) -> Running {
    // In a box: a future keeps room for everything that it captures until its end.
    let mut begin = Box::new((target, opening));
    Box::pin(async move {
        let compiled = Arc::clone(&begin.1.graph.0);
        let spans = trace(&mut begin);
        let run = async move {
            match open(begin)?.await? {
                Opened::Ended(superstep, outcome) => Ok((superstep, outcome)),
                Opened::Started(begun) => {
                    let mut driver = begun.into_driver();
                    driver.announce(true).await;
                    finish(driver).await
                }
            }
        };
        let result = spans.instrument(caught(&compiled.name, run)).await;
        spans.ended(&result);
        result
    })
}

fn trace(begin: &mut (Box<dyn ErasedTarget>, Opening)) -> RunSpan {
    let (target, opening) = begin;
    opening.trace(&**target)
}

fn open(begin: Box<(Box<dyn ErasedTarget>, Opening)>) -> Result<OpeningRun, Error> {
    let (target, opening) = *begin;
    opening.check_not_cancelled()?;
    Ok(target.open(opening))
}

/// Applies the input of a run in memory, and returns its driver.
pub(super) fn start(target: FromInput, mut opening: Opening) -> Result<Driver, Error> {
    let spans = opening.trace(&target);
    let not_cancelled = opening.check_not_cancelled();
    let shared = opening.shared(None);
    let Opening { graph, context, options, events, .. } = opening;
    let start = || Driver::start(&graph.0, target.0, context, shared, options, events);
    let started = not_cancelled.and_then(|()| spans.within(|| caught_call(&graph.0.name, start)));
    spans.begun(&started);
    started
}

/// Opens a run on a thread. Returns its driver, or `None` if there is nothing to run.
pub(crate) fn start_on_thread(
    target: Box<dyn ErasedTarget>,
    mut opening: Opening,
) -> BoxedResult<Option<Driver>> {
    Box::pin(async move {
        let compiled = Arc::clone(&opening.graph.0);
        let spans = opening.trace(&*target);
        let opened = async {
            opening.check_not_cancelled()?;
            target.open(opening).await
        };
        let opened = spans.instrument(caught(&compiled.name, opened)).await;
        spans.begun(&opened);
        Ok(match opened? {
            Opened::Started(begun) => Some(*begun.into_driver()),
            Opened::Ended(_, outcome) => {
                spans.ended(&Ok((0, outcome)));
                None
            }
        })
    })
}

/// Runs the remaining supersteps.
async fn finish(mut driver: Box<Driver>) -> Result<(u64, ErasedOutcome), Error> {
    driver.finish().await?;
    let superstep = driver.superstep();
    Ok((superstep, driver.into_outcome()))
}

/// Runs the remaining supersteps of a run that was stepped by hand.
pub(super) fn finish_by_hand(driver: Driver) -> Running {
    Box::pin(async move {
        let spans = driver.spans.clone();
        let name = driver.name().to_owned();
        let result = spans.instrument(caught(&name, finish(Box::new(driver)))).await;
        spans.ended(&result);
        result
    })
}

/// Runs one superstep of a run that is stepped by hand.
pub(super) fn step_by_hand(
    driver: &mut Driver,
) -> Pin<Box<dyn Future<Output = Result<bool, Error>> + Send + '_>> {
    Box::pin(async move {
        let spans = driver.spans.clone();
        let result = spans.instrument(driver.step_unless_broken()).await;
        spans.stepped(&result, driver.is_at_stop_point());
        result
    })
}
