// This file is longer than most because every option of a run has its documentation here.

use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;

use crate::engine::{
    Driver, FailureMode, Memos, Metadata, Nest, RunOptions, RunShared, RunSpan, caught, caught_call,
};
use crate::error::{Error, ErrorKind};
use crate::graph::Graph;
use crate::node::{Body, Shape};
use crate::state::GraphState;
use crate::stream::event::StreamMode;
use crate::stream::{Events, NodeEvent, RunStream, Sink};

use super::{Outcome, Stepper, Stop};

/// A run that has not started yet.
///
/// Set its options, then await it, read its events with [`stream`](Self::stream), or execute it superstep by superstep with
/// [`start`](Self::start). Awaiting it returns an [`Outcome`].
///
/// # Errors
/// Awaiting a run fails with the kinds of [`ErrorKind`] that describe its graph: [`Node`](ErrorKind::Node),
/// [`Validation`](ErrorKind::Validation), [`WriteConflict`](ErrorKind::WriteConflict), [`Reducer`](ErrorKind::Reducer),
/// [`JoinNotFilled`](ErrorKind::JoinNotFilled), [`NoParentGraph`](ErrorKind::NoParentGraph),
/// [`NoCache`](ErrorKind::NoCache) and [`ContextMismatch`](ErrorKind::ContextMismatch). The options of a run add
/// [`RecursionLimit`](ErrorKind::RecursionLimit), [`SuperstepTimeout`](ErrorKind::SuperstepTimeout),
/// [`Cancelled`](ErrorKind::Cancelled), [`UnknownNode`](ErrorKind::UnknownNode) and [`Runtime`](ErrorKind::Runtime).
///
/// # Cancel safety
/// Dropping the future of a run cancels it. No further poll of its tasks starts, and no task is left behind.
#[must_use = "a run does nothing until it is awaited, streamed or started"]
pub struct Run<S: GraphState, D, C, T = InMemory<S>> {
    pub(crate) graph: Graph<S, D>,
    /// The input, or the thread, that the run is started on.
    pub(crate) target: T,
    context: C,
    pub(crate) options: RunOptions,
    metadata: Metadata,
    modes: Vec<StreamMode>,
}

/// The target of a run without a thread: an input, in memory.
pub struct InMemory<S: GraphState>(S::Input);

/// The target of a run: an input in memory, or a thread.
pub trait Target<S: GraphState, D>: Sized + Send + 'static {
    /// Describes the run for its tracing span.
    #[doc(hidden)]
    fn about(&self) -> About<'_>;

    /// Opens the run, up to its first superstep.
    #[doc(hidden)]
    fn open(self, opening: Opening<S, D>) -> impl Future<Output = Result<Opened<S, D>, Error>> + Send;
}

/// The description of a run for its tracing span.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct About<'a> {
    /// The way in which the run starts: "input", "resume" or "again".
    pub begin: &'static str,
    /// The name of its thread, if any.
    pub thread: Option<&'a str>,
    /// Its id, if the caller gave one.
    pub run_id: Option<&'a str>,
}

/// The parameters with which a target opens a run.
#[doc(hidden)]
pub struct Opening<S: GraphState, D> {
    pub(crate) graph: Graph<S, D>,
    pub(crate) context: Arc<D>,
    pub(crate) options: RunOptions,
    pub(crate) metadata: Metadata,
    pub(crate) events: Option<Events<S>>,
    pub(crate) spans: RunSpan,
}

/// A run that has been opened.
#[doc(hidden)]
pub enum Opened<S: GraphState, D> {
    /// The run has supersteps to execute.
    Begun(Box<OpenedRun<S, D>>),
    /// There is nothing to run. Holds the number of the last superstep and the outcome.
    Ended(u64, Outcome<S>),
}

/// A run with supersteps to execute.
#[doc(hidden)]
pub struct OpenedRun<S: GraphState, D>(pub(crate) Driver<S, D>);

impl<S: GraphState, D: Send + Sync + 'static> OpenedRun<S, D> {
    /// Returns the driver, and records the run id in the span.
    pub(crate) fn into_driver(self) -> Driver<S, D> {
        let Self(driver) = self;
        driver.spans.has_id(driver.run_id());
        driver
    }
}

impl<S: GraphState, D: Send + Sync + 'static> Opening<S, D> {
    /// Begins the run's tracing span, which is empty without a subscriber.
    pub(crate) fn trace<T: Target<S, D>>(&mut self, target: &T) -> RunSpan {
        self.spans = RunSpan::begin(self.graph.name(), || target.about());
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
        Error::new(self.graph.name(), ErrorKind::Cancelled { step: None, unfinished: Vec::new() })
    }

    /// Creates the values that all tasks of the run share.
    pub(crate) fn shared(&self, thread: Option<Arc<str>>) -> RunShared {
        let wants_node_events = |events: &Events<S>| NodeEvent::MODES.iter().any(|mode| events.wants(*mode));
        let sink = self.events.clone().filter(wants_node_events);
        let listeners = self.events.clone().map(|events| Arc::new(events) as Arc<dyn Sink>);
        RunShared {
            names: Arc::clone(&self.graph.0.names),
            metadata: self.metadata.clone(),
            memos: thread.as_ref().map_or_else(Memos::default, |thread| Memos::within(Arc::clone(thread))),
            steps: None,
            script: None,
            store: self.graph.1.clone(),
            cache: self.graph.2.clone(),
            longest_sleep: self.options.longest_sleep,
            stop: Mutex::new(self.options.stop.clone()),
            spans: self.spans.clone(),
            thread,
            sink: sink.map(|events| Arc::new(events) as Arc<dyn Sink>),
            nest: Nest { listeners, aliases: self.graph.0.aliases.clone(), ..Nest::default() },
        }
    }
}

impl<S: GraphState, D: Send + Sync + 'static> Target<S, D> for InMemory<S> {
    fn about(&self) -> About<'_> {
        About { begin: "input", thread: None, run_id: None }
    }

    async fn open(self, opening: Opening<S, D>) -> Result<Opened<S, D>, Error> {
        let shared = opening.shared(None);
        let Opening { graph, context, options, events, .. } = opening;
        Driver::start(&graph, self.0, context, shared, options, events)
            .map(|driver| Opened::Begun(Box::new(OpenedRun(driver))))
    }
}

/// The type state of a run without a context. Graphs without a context need none.
#[derive(Clone, Copy, Debug)]
pub struct NeedsContext;

/// The type state of a run that has its context.
#[derive(Debug)]
pub struct HasContext<D>(Arc<D>);

/// A run has the context that its graph needs.
#[diagnostic::on_unimplemented(
    message = "a run of this graph needs a context of type `{D}`",
    label = "set it with `.context(..)` first"
)]
pub trait ContextGiven<D> {
    #[doc(hidden)]
    fn into_context(self) -> Arc<D>;
}

impl ContextGiven<()> for NeedsContext {
    fn into_context(self) -> Arc<()> {
        Arc::new(())
    }
}

impl<D> ContextGiven<D> for HasContext<D> {
    fn into_context(self) -> Arc<D> {
        self.0
    }
}

impl<S: GraphState, D: Send + Sync + 'static> Run<S, D, NeedsContext> {
    pub(crate) fn new(graph: Graph<S, D>, input: S::Input) -> Self {
        Self::of(graph, InMemory(input))
    }
}

impl<S: GraphState, D: Send + Sync + 'static, T> Run<S, D, NeedsContext, T> {
    pub(crate) fn of(graph: Graph<S, D>, target: T) -> Self {
        Self {
            graph,
            target,
            context: NeedsContext,
            options: RunOptions::default(),
            metadata: Metadata::new(),
            modes: StreamMode::ALL.to_vec(),
        }
    }

    /// Sets the application context, which nodes read through `&ContextWith<D>`.
    ///
    /// Pass a `D`, or an `Arc<D>` to share one context between runs.
    pub fn context(self, context: impl Into<Arc<D>>) -> Run<S, D, HasContext<D>, T> {
        Run {
            graph: self.graph,
            target: self.target,
            context: HasContext(context.into()),
            options: self.options,
            metadata: self.metadata,
            modes: self.modes,
        }
    }
}

impl<S: GraphState, D: Send + Sync + 'static, C, T> Run<S, D, C, T> {
    /// Sets the maximum number of supersteps. The default is [`DEFAULT_RECURSION_LIMIT`](crate::DEFAULT_RECURSION_LIMIT).
    ///
    /// The run fails with [`RecursionLimit`](ErrorKind::RecursionLimit) if it needs more. A run that finishes after exactly
    /// this many supersteps succeeds.
    pub fn recursion_limit(mut self, supersteps: u64) -> Self {
        self.options.recursion_limit = supersteps;
        self
    }

    /// Limits the number of tasks of a superstep that run at the same time. Each subgraph call has the same limit for
    /// its own tasks. The run fails with [`Runtime`](ErrorKind::Runtime) if the limit is 0.
    pub fn max_concurrency(mut self, tasks: usize) -> Self {
        self.options.max_concurrency = Some(tasks);
        self
    }

    /// Fails the run with [`SuperstepTimeout`](ErrorKind::SuperstepTimeout) if a superstep takes longer than `limit`.
    ///
    /// Needs tokio's timer.
    pub fn superstep_timeout(mut self, limit: Duration) -> Self {
        self.options.superstep_timeout = Some(limit);
        self
    }

    /// Sets the [`Stop`] that ends the run from outside, immediately or after the current superstep.
    ///
    /// A later call replaces it. A [child](Stop::child) combines two stops.
    pub fn stop_by(mut self, stop: &Stop) -> Self {
        self.options.stop = Some(stop.clone());
        self
    }

    /// Sets the treatment of the siblings of a failed node. The default is that [of the graph](crate::StateGraph::on_failure).
    pub fn on_failure(mut self, mode: FailureMode) -> Self {
        self.options.failure_mode = Some(mode);
        self
    }

    /// Adds a breakpoint: this run stops before a superstep in which the node would run.
    ///
    /// [`StateGraph::interrupt_before`](crate::StateGraph::interrupt_before) does the same for every run.
    pub fn interrupt_before<N, M, F>(mut self, node: N) -> Self
    where
        N: Shape<M, Body = Body<F>>,
    {
        self.options.breakpoints.before.at.push(node.into_body().node);
        self
    }

    /// Adds a breakpoint: this run stops after a superstep in which the node has run, unless the run has finished.
    pub fn interrupt_after<N, M, F>(mut self, node: N) -> Self
    where
        N: Shape<M, Body = Body<F>>,
    {
        self.options.breakpoints.after.at.push(node.into_body().node);
        self
    }

    /// Stops this run before each superstep.
    pub fn interrupt_before_all(mut self) -> Self {
        self.options.breakpoints.before.at_all = true;
        self
    }

    /// Stops this run after each superstep except the last.
    pub fn interrupt_after_all(mut self) -> Self {
        self.options.breakpoints.after.at_all = true;
        self
    }

    /// Adds a key to the run's metadata, which nodes read with [`Context::metadata`](crate::Context::metadata).
    ///
    /// On a thread, metadata is stored with the checkpoints, without encryption.
    pub fn metadata(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.metadata.insert(key.into(), value.into());
        self
    }

    /// Sets the events that [`stream`](Self::stream) yields. The default is all. Other events are not created at all.
    pub fn events(mut self, modes: impl IntoIterator<Item = StreamMode>) -> Self {
        self.modes = modes.into_iter().collect();
        self
    }
}

impl<S: GraphState, D: Send + Sync + 'static, C: ContextGiven<D>> Run<S, D, C> {
    /// Applies the input, and returns a [`Stepper`] to execute the run superstep by superstep.
    ///
    /// # Errors
    /// - [`Validation`](ErrorKind::Validation), [`Reducer`](ErrorKind::Reducer), if the input is refused.
    /// - [`Node`](ErrorKind::Node), if the route that leaves START failed.
    /// - [`Cancelled`](ErrorKind::Cancelled), [`NoCache`](ErrorKind::NoCache), [`UnknownNode`](ErrorKind::UnknownNode),
    ///   [`ContextMismatch`](ErrorKind::ContextMismatch), [`Runtime`](ErrorKind::Runtime), if the run cannot start.
    pub fn start(self) -> Result<Stepper<S, D>, Error> {
        let (target, mut opening) = self.opening(None);
        let spans = opening.trace(&target);
        let not_cancelled = opening.check_not_cancelled();
        let shared = opening.shared(None);
        let Opening { graph, context, options, events, .. } = opening;
        let start = || Driver::start(&graph, target.0, context, shared, options, events);
        let started = not_cancelled.and_then(|()| spans.within(|| caught_call(graph.name(), start)));
        spans.begun(&started);
        started.map(Stepper::new)
    }
}

impl<S: GraphState, D: Send + Sync + 'static, C: ContextGiven<D>, T> Run<S, D, C, T> {
    pub(crate) fn opening(self, events: Option<Events<S>>) -> (T, Opening<S, D>) {
        let Self { graph, target, context, options, metadata, .. } = self;
        let (context, spans) = (context.into_context(), RunSpan::none());
        (target, Opening { graph, context, options, metadata, events, spans })
    }

    /// Returns the run as a stream of its events.
    pub fn stream(self) -> RunStream<S>
    where
        C: Send + 'static,
        T: Target<S, D>,
    {
        let modes = self.modes.clone();
        RunStream::new(&modes, |events| Box::pin(self.finish(Some(events))))
    }

    async fn finish(self, events: Option<Events<S>>) -> Result<(u64, Outcome<S>), Error>
    where
        T: Target<S, D>,
    {
        let compiled = Arc::clone(&self.graph.0);
        let (target, mut opening) = self.opening(events);
        let spans = opening.trace(&target);
        let run = async move {
            opening.check_not_cancelled()?;
            match target.open(opening).await? {
                Opened::Ended(superstep, outcome) => Ok((superstep, outcome)),
                Opened::Begun(begun) => {
                    let mut driver = begun.into_driver();
                    driver.announce(true).await;
                    Stepper::new(driver).finish_at().await
                }
            }
        };
        let result = spans.around(caught(&compiled.name, run)).await;
        spans.ended(&result);
        result
    }
}

impl<S, D, C, T> IntoFuture for Run<S, D, C, T>
where
    S: GraphState,
    D: Send + Sync + 'static,
    C: ContextGiven<D> + Send + 'static,
    T: Target<S, D>,
{
    type Output = Result<Outcome<S>, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move { self.finish(None).await.map(|(_, outcome)| outcome) })
    }
}

impl<S: GraphState, D, C, T> std::fmt::Debug for Run<S, D, C, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Run")
            .field("graph", &self.graph)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}
