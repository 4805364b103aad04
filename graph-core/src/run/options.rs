// This file is longer than most because every option of a run has its documentation here.

use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use serde_json::Value;

use crate::Outcome;
use crate::engine::{AppContext, ErasedGraph, RunSpan};
use crate::erased::InputOf;
use crate::error::{Error, ErrorKind};
use crate::node::{Shape, SingleNode};
use crate::options::{FailureMode, Metadata, RunOptions, Stop};
use crate::state::GraphState;
use crate::stream::Events;
use crate::stream::mode::StreamMode;

use super::Stepper;
use super::begun::Begun;
use super::into_context::IntoContext;
use super::opening::{ErasedOutcome, ErasedTarget, FromInput, Opening, execute, start};
use super::run_stream::RunStream;

/// A run that has not started yet.
///
/// Set its options, then await it, read its events with [`stream`](Self::stream), or execute it superstep by superstep
/// with [`start`](Self::start). Awaiting it returns an [`Outcome`].
///
/// # Errors
/// Awaiting a run fails with the kinds of [`ErrorKind`](crate::ErrorKind) that describe its graph:
/// [`Node`](crate::ErrorKind::Node), [`Validation`](crate::ErrorKind::Validation),
/// [`WriteConflict`](crate::ErrorKind::WriteConflict), [`Reducer`](crate::ErrorKind::Reducer),
/// [`JoinNotFilled`](crate::ErrorKind::JoinNotFilled), [`NoParentGraph`](crate::ErrorKind::NoParentGraph),
/// [`NoCache`](crate::ErrorKind::NoCache) and [`ContextMismatch`](crate::ErrorKind::ContextMismatch). The options of a
/// run add [`RecursionLimit`](crate::ErrorKind::RecursionLimit),
/// [`SuperstepTimeout`](crate::ErrorKind::SuperstepTimeout), [`Cancelled`](crate::ErrorKind::Cancelled),
/// [`UnknownNode`](crate::ErrorKind::UnknownNode) and [`Runtime`](crate::ErrorKind::Runtime).
///
/// # Cancel safety
/// Dropping the future of a run cancels it. No further poll of its tasks starts, and no task is left behind.
///
/// A run is a [`Future`], and begins with its first poll. From then on its options have no effect,
/// [`stream`](Self::stream) only returns the outcome, and [`start`](Self::start) fails.
#[must_use = "a run does nothing until it is awaited, streamed or started"]
pub struct Run<S: GraphState, D, C, T = InMemory<S>> {
    pub(crate) graph: ErasedGraph,
    /// `None` after the first poll.
    pub(crate) plan: Option<Box<RunPlan<T>>>,
    running: Begun<(u64, ErasedOutcome)>,
    types: PhantomData<fn(S, D, C)>,
}

/// The parameters of a run.
pub(crate) struct RunPlan<T> {
    /// The input, or the thread, that the run is started on.
    pub(crate) target: T,
    pub(crate) settings: Settings,
}

impl<T> RunPlan<T> {
    fn opening(self, graph: ErasedGraph) -> (T, Opening) {
        let Self { target, settings } = self;
        (target, settings.opening(graph, None))
    }
}

/// The parameters of a run that do not depend on its types.
pub(crate) struct Settings {
    pub(crate) options: RunOptions,
    pub(crate) metadata: Metadata,
    modes: Vec<StreamMode>,
    /// `None` for a graph without a context.
    context: Option<Arc<dyn AppContext>>,
}

impl Settings {
    fn new() -> Self {
        let modes = StreamMode::ALL.to_vec();
        Self { options: RunOptions::default(), metadata: Metadata::new(), modes, context: None }
    }

    fn opening(self, graph: ErasedGraph, events: Option<Events>) -> Opening {
        let Self { options, metadata, context, .. } = self;
        let context = context.unwrap_or_else(|| Arc::new(()));
        Opening { graph, context, options, metadata, events, spans: RunSpan::none() }
    }
}

/// The target of a run without a thread: an input, in memory.
pub struct InMemory<S: GraphState>(S::Input);

/// The target of a run: an input in memory, or a thread.
pub trait Target<S: GraphState>: Send + 'static {
    #[doc(hidden)]
    fn erase(self) -> Box<dyn ErasedTarget>;
}

impl<S: GraphState> Target<S> for InMemory<S> {
    fn erase(self) -> Box<dyn ErasedTarget> {
        Box::new(FromInput(Box::new(InputOf::<S>(self.0))))
    }
}

/// The type state of a run without a context. Graphs without a context need none.
#[derive(Clone, Copy, Debug)]
pub struct NeedsContext;

/// The type state of a run that has its context.
#[derive(Debug)]
pub struct HasContext<D>(PhantomData<fn(D)>);

/// A run has the context that its graph needs.
#[diagnostic::on_unimplemented(
    message = "a run of this graph needs a context of type `{D}`",
    label = "set it with `.context(..)` before this call"
)]
pub trait ContextGiven<D> {}

impl ContextGiven<()> for NeedsContext {}

impl<D> ContextGiven<D> for HasContext<D> {}

impl<S: GraphState, D: Send + Sync + 'static> Run<S, D, NeedsContext> {
    pub(crate) fn new(graph: ErasedGraph, input: S::Input) -> Self {
        Self::of(graph, InMemory(input))
    }
}

impl<S: GraphState, D: Send + Sync + 'static, T> Run<S, D, NeedsContext, T> {
    pub(crate) fn of(graph: ErasedGraph, target: T) -> Self {
        let plan = Some(Box::new(RunPlan { target, settings: Settings::new() }));
        Self { graph, plan, running: Begun::not_yet(), types: PhantomData }
    }

    /// Sets the application context, which nodes read through `&ContextWith<D>`.
    ///
    /// Pass a `D`, or an `Arc<D>` to share one context between runs.
    pub fn context(self, context: impl IntoContext<D>) -> Run<S, D, HasContext<D>, T> {
        let context = context.into_context();
        let Self { graph, plan, running, .. } = self.set(|plan| plan.settings.context = Some(context));
        Run { graph, plan, running, types: PhantomData }
    }
}

impl<S: GraphState, D: Send + Sync + 'static, C, T> Run<S, D, C, T> {
    pub(crate) fn set(mut self, change: impl FnOnce(&mut RunPlan<T>)) -> Self {
        if let Some(plan) = &mut self.plan {
            change(plan);
        }
        self
    }

    /// Sets the maximum number of supersteps. The default is
    /// [`DEFAULT_RECURSION_LIMIT`](crate::DEFAULT_RECURSION_LIMIT).
    ///
    /// The run fails with [`RecursionLimit`](crate::ErrorKind::RecursionLimit) if it needs more. A run that finishes
    /// after exactly this many supersteps succeeds.
    pub fn recursion_limit(self, supersteps: u64) -> Self {
        self.set(|plan| plan.settings.options.recursion_limit = supersteps)
    }

    /// Limits the number of tasks of a superstep that run at the same time. Each subgraph call has the same limit for
    /// its own tasks. The run fails with [`Runtime`](crate::ErrorKind::Runtime) if the limit is 0.
    pub fn max_concurrency(self, tasks: usize) -> Self {
        self.set(|plan| plan.settings.options.max_concurrency = Some(tasks))
    }

    /// Fails the run with [`SuperstepTimeout`](crate::ErrorKind::SuperstepTimeout) if a superstep takes longer than
    /// `limit`.
    ///
    /// Needs tokio's timer.
    pub fn superstep_timeout(self, limit: Duration) -> Self {
        self.set(|plan| plan.settings.options.superstep_timeout = Some(limit))
    }

    /// Sets the [`Stop`] that ends the run from outside, immediately or after the current superstep.
    ///
    /// A later call replaces it. A [child](Stop::child) combines two stops.
    pub fn stop_by(self, stop: &Stop) -> Self {
        self.set(|plan| plan.settings.options.stop = Some(stop.clone()))
    }

    /// Sets the treatment of the siblings of a failed node. The default is that [of the
    /// graph](crate::StateGraph::on_failure).
    pub fn on_failure(self, mode: FailureMode) -> Self {
        self.set(|plan| plan.settings.options.failure_mode = Some(mode))
    }

    /// Adds a breakpoint: this run stops before a superstep in which the node would run.
    ///
    /// [`StateGraph::interrupt_before`](crate::StateGraph::interrupt_before) does the same for every run.
    pub fn interrupt_before<N, M>(self, node: N) -> Self
    where
        N: Shape<M>,
        N::Body: SingleNode,
    {
        self.set(|plan| plan.settings.options.breakpoints.before.at.push(node.into_body().node_ref()))
    }

    /// Adds a breakpoint: this run stops after a superstep in which the node has run, unless the run has finished.
    pub fn interrupt_after<N, M>(self, node: N) -> Self
    where
        N: Shape<M>,
        N::Body: SingleNode,
    {
        self.set(|plan| plan.settings.options.breakpoints.after.at.push(node.into_body().node_ref()))
    }

    /// Adds breakpoints before nodes, by their names or [aliases](crate::StateGraph::alias): for callers that do not have
    /// the functions, such as a server.
    ///
    /// A name that the graph does not have is [`UnknownNode`](crate::ErrorKind::UnknownNode) when the run starts.
    pub fn interrupt_before_named(self, names: impl IntoIterator<Item: Into<String>>) -> Self {
        self.set(|plan| plan.settings.options.breakpoints.before.add_named(names))
    }

    /// Adds breakpoints after nodes, by their names or aliases; see
    /// [`interrupt_before_named`](Self::interrupt_before_named).
    pub fn interrupt_after_named(self, names: impl IntoIterator<Item: Into<String>>) -> Self {
        self.set(|plan| plan.settings.options.breakpoints.after.add_named(names))
    }

    /// Stops this run before each superstep.
    pub fn interrupt_before_all(self) -> Self {
        self.set(|plan| plan.settings.options.breakpoints.before.at_all = true)
    }

    /// Stops this run after each superstep except the last.
    pub fn interrupt_after_all(self) -> Self {
        self.set(|plan| plan.settings.options.breakpoints.after.at_all = true)
    }

    /// Adds a key to the run's metadata, which nodes read with [`Context::metadata`](crate::Context::metadata).
    ///
    /// On a thread, metadata is stored with the checkpoints, without encryption. A resumption has metadata of its own:
    /// repeat the keys by which [lists](crate::thread::ThreadList::metadata) select the thread.
    pub fn metadata(self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.set(|plan| {
            plan.settings.metadata.insert(key.into(), value.into());
        })
    }

    /// Sets the events that [`stream`](Self::stream) yields. The default is all. Other events are not created at all.
    pub fn events(self, modes: impl IntoIterator<Item = StreamMode>) -> Self {
        self.set(|plan| plan.settings.modes = modes.into_iter().collect())
    }
}

impl<S: GraphState, D: Send + Sync + 'static, C> Run<S, D, C> {
    /// Applies the input, and returns a [`Stepper`] to execute the run superstep by superstep.
    ///
    /// # Errors
    /// - [`Validation`](crate::ErrorKind::Validation), [`Reducer`](crate::ErrorKind::Reducer), if the input is refused.
    /// - [`Node`](crate::ErrorKind::Node), if the route that leaves START failed.
    /// - [`Cancelled`](crate::ErrorKind::Cancelled), [`NoCache`](crate::ErrorKind::NoCache),
    ///   [`UnknownNode`](crate::ErrorKind::UnknownNode), [`ContextMismatch`](crate::ErrorKind::ContextMismatch),
    ///   [`Runtime`](crate::ErrorKind::Runtime), if the run cannot start.
    pub fn start(self) -> Result<Stepper<S, D>, Error>
    where
        C: ContextGiven<D>,
    {
        let (InMemory(input), opening) = self.opening()?;
        Stepper::new(start(FromInput(Box::new(InputOf::<S>(input))), opening)?)
    }
}

impl<S: GraphState, D: Send + Sync + 'static, C, T> Run<S, D, C, T> {
    /// Returns the parameters of a run that is begun without events.
    ///
    /// # Errors
    /// [`Runtime`](ErrorKind::Runtime) if the run has begun.
    pub(crate) fn opening(mut self) -> Result<(T, Opening), Error> {
        match self.take_opening() {
            Some(parameters) => Ok(parameters),
            None => Err(Error::new(
                &self.graph.0.name,
                ErrorKind::Runtime("the run has begun with its first poll"),
            )),
        }
    }

    /// Takes out the parameters, with the first poll.
    pub(crate) fn take_opening(&mut self) -> Option<(T, Opening)> {
        self.plan.take().map(|plan| plan.opening(self.graph.clone()))
    }

    /// Returns the run as a stream of its events.
    pub fn stream(self) -> RunStream<S>
    where
        C: ContextGiven<D>,
        T: Target<S>,
    {
        let Self { graph, plan, running, .. } = self;
        let Some(plan) = plan else { return RunStream::new(&[], |_| running.into_future(&graph.0.name)) };
        let RunPlan { target, mut settings } = *plan;
        let modes = std::mem::take(&mut settings.modes);
        RunStream::new(&modes, |events| execute(target.erase(), settings.opening(graph, Some(events))))
    }
}

impl<S, D, C, T> Future for Run<S, D, C, T>
where
    S: GraphState,
    D: Send + Sync + 'static,
    C: ContextGiven<D>,
    T: Target<S>,
{
    type Output = Result<Outcome<S>, Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let run = self.get_mut();
        if let Some((target, opening)) = run.take_opening() {
            run.running.begin(execute(target.erase(), opening));
        }
        let graph = &run.graph.0.name;
        run.running.poll(cx, graph).map(|ended| match ended {
            Ok((_, outcome)) => outcome.typed().map_err(|kind| Error::new(graph, kind)),
            Err(error) => Err(error),
        })
    }
}

impl<S: GraphState, D, C, T> std::fmt::Debug for Run<S, D, C, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Run")
            .field("graph", &self.graph.0.name)
            .field("options", &self.plan.as_ref().map(|plan| &plan.settings.options))
            .finish_non_exhaustive()
    }
}
