// This file is longer than most because every option of a run has its documentation here.

use std::future::{Future, IntoFuture};
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use serde_json::Value;

use crate::Outcome;
use crate::engine::{AppContext, Compiled, ErasedGraph, RunSpan};
use crate::erased::InputOf;
use crate::error::Error;
use crate::node::{Shape, SingleNode};
use crate::options::{FailureMode, Metadata, RunOptions, Stop};
use crate::state::GraphState;
use crate::stream::Events;
use crate::stream::event::StreamMode;

use super::Stepper;
use super::into_context::IntoContext;
use super::opening::{ErasedTarget, FromInput, Opening, Running, execute, start};
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
#[must_use = "a run does nothing until it is awaited, streamed or started"]
pub struct Run<S: GraphState, D, C, T = InMemory<S>> {
    pub(crate) graph: ErasedGraph,
    /// The input, or the thread, that the run is started on.
    pub(crate) target: T,
    context: C,
    pub(crate) settings: Settings,
    types: PhantomData<fn(S, D)>,
}

/// The options of a run that do not depend on its types.
pub(crate) struct Settings {
    pub(crate) options: RunOptions,
    pub(crate) metadata: Metadata,
    modes: Vec<StreamMode>,
}

impl Settings {
    fn new() -> Self {
        Self { options: RunOptions::default(), metadata: Metadata::new(), modes: StreamMode::ALL.to_vec() }
    }

    fn opening(self, graph: ErasedGraph, context: Arc<dyn AppContext>, events: Option<Events>) -> Opening {
        let Self { options, metadata, .. } = self;
        Opening { graph, context, options, metadata, events, spans: RunSpan::none() }
    }
}

/// The target of a run without a thread: an input, in memory.
pub struct InMemory<S: GraphState>(S::Input);

/// The target of a run: an input in memory, or a thread.
pub trait Target<S: GraphState, D>: Send + 'static {
    #[doc(hidden)]
    fn erase(self) -> Box<dyn ErasedTarget>;
}

impl<S: GraphState, D> Target<S, D> for InMemory<S> {
    fn erase(self) -> Box<dyn ErasedTarget> {
        Box::new(FromInput(Box::new(InputOf::<S>(self.0))))
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
    label = "set it with `.context(..)` before this call"
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
    pub(crate) fn new(graph: ErasedGraph, input: S::Input) -> Self {
        Self::of(graph, InMemory(input))
    }
}

impl<S: GraphState, D: Send + Sync + 'static, T> Run<S, D, NeedsContext, T> {
    pub(crate) fn of(graph: ErasedGraph, target: T) -> Self {
        Self { graph, target, context: NeedsContext, settings: Settings::new(), types: PhantomData }
    }

    /// Sets the application context, which nodes read through `&ContextWith<D>`.
    ///
    /// Pass a `D`, or an `Arc<D>` to share one context between runs.
    pub fn context(self, context: impl IntoContext<D>) -> Run<S, D, HasContext<D>, T> {
        let Self { graph, target, settings, .. } = self;
        Run { graph, target, context: HasContext(context.into_context()), settings, types: PhantomData }
    }
}

impl<S: GraphState, D: Send + Sync + 'static, C, T> Run<S, D, C, T> {
    /// Sets the maximum number of supersteps. The default is
    /// [`DEFAULT_RECURSION_LIMIT`](crate::DEFAULT_RECURSION_LIMIT).
    ///
    /// The run fails with [`RecursionLimit`](crate::ErrorKind::RecursionLimit) if it needs more. A run that finishes
    /// after exactly this many supersteps succeeds.
    pub fn recursion_limit(mut self, supersteps: u64) -> Self {
        self.settings.options.recursion_limit = supersteps;
        self
    }

    /// Limits the number of tasks of a superstep that run at the same time. Each subgraph call has the same limit for
    /// its own tasks. The run fails with [`Runtime`](crate::ErrorKind::Runtime) if the limit is 0.
    pub fn max_concurrency(mut self, tasks: usize) -> Self {
        self.settings.options.max_concurrency = Some(tasks);
        self
    }

    /// Fails the run with [`SuperstepTimeout`](crate::ErrorKind::SuperstepTimeout) if a superstep takes longer than
    /// `limit`.
    ///
    /// Needs tokio's timer.
    pub fn superstep_timeout(mut self, limit: Duration) -> Self {
        self.settings.options.superstep_timeout = Some(limit);
        self
    }

    /// Sets the [`Stop`] that ends the run from outside, immediately or after the current superstep.
    ///
    /// A later call replaces it. A [child](Stop::child) combines two stops.
    pub fn stop_by(mut self, stop: &Stop) -> Self {
        self.settings.options.stop = Some(stop.clone());
        self
    }

    /// Sets the treatment of the siblings of a failed node. The default is that [of the
    /// graph](crate::StateGraph::on_failure).
    pub fn on_failure(mut self, mode: FailureMode) -> Self {
        self.settings.options.failure_mode = Some(mode);
        self
    }

    /// Adds a breakpoint: this run stops before a superstep in which the node would run.
    ///
    /// [`StateGraph::interrupt_before`](crate::StateGraph::interrupt_before) does the same for every run.
    pub fn interrupt_before<N, M>(mut self, node: N) -> Self
    where
        N: Shape<M>,
        N::Body: SingleNode,
    {
        self.settings.options.breakpoints.before.at.push(node.into_body().node_ref());
        self
    }

    /// Adds a breakpoint: this run stops after a superstep in which the node has run, unless the run has finished.
    pub fn interrupt_after<N, M>(mut self, node: N) -> Self
    where
        N: Shape<M>,
        N::Body: SingleNode,
    {
        self.settings.options.breakpoints.after.at.push(node.into_body().node_ref());
        self
    }

    /// Adds breakpoints before nodes, by their names or [aliases](crate::StateGraph::alias): for callers that do not have
    /// the functions, such as a server.
    ///
    /// A name that the graph does not have is [`UnknownNode`](crate::ErrorKind::UnknownNode) when the run starts.
    pub fn interrupt_before_named(mut self, names: impl IntoIterator<Item: Into<String>>) -> Self {
        self.settings.options.breakpoints.before.add_named(names);
        self
    }

    /// Adds breakpoints after nodes, by their names or aliases; see
    /// [`interrupt_before_named`](Self::interrupt_before_named).
    pub fn interrupt_after_named(mut self, names: impl IntoIterator<Item: Into<String>>) -> Self {
        self.settings.options.breakpoints.after.add_named(names);
        self
    }

    /// Stops this run before each superstep.
    pub fn interrupt_before_all(mut self) -> Self {
        self.settings.options.breakpoints.before.at_all = true;
        self
    }

    /// Stops this run after each superstep except the last.
    pub fn interrupt_after_all(mut self) -> Self {
        self.settings.options.breakpoints.after.at_all = true;
        self
    }

    /// Adds a key to the run's metadata, which nodes read with [`Context::metadata`](crate::Context::metadata).
    ///
    /// On a thread, metadata is stored with the checkpoints, without encryption. A resumption has metadata of its own:
    /// repeat the keys by which [lists](crate::thread::ThreadList::metadata) select the thread.
    pub fn metadata(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.settings.metadata.insert(key.into(), value.into());
        self
    }

    /// Sets the events that [`stream`](Self::stream) yields. The default is all. Other events are not created at all.
    pub fn events(mut self, modes: impl IntoIterator<Item = StreamMode>) -> Self {
        self.settings.modes = modes.into_iter().collect();
        self
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
        let (InMemory(input), opening) = self.opening(None);
        Stepper::new(start(FromInput(Box::new(InputOf::<S>(input))), opening)?)
    }
}

impl<S: GraphState, D: Send + Sync + 'static, C, T> Run<S, D, C, T> {
    pub(crate) fn opening(self, events: Option<Events>) -> (T, Opening)
    where
        C: ContextGiven<D>,
    {
        let Self { graph, target, context, settings, .. } = self;
        (target, settings.opening(graph, context.into_context(), events))
    }

    /// Returns the run as a stream of its events.
    pub fn stream(self) -> RunStream<S>
    where
        C: ContextGiven<D> + Send + 'static,
        T: Target<S, D>,
    {
        let modes = self.settings.modes.clone();
        RunStream::new(&modes, |events| self.execute(Some(events)))
    }

    fn execute(self, events: Option<Events>) -> Running
    where
        C: ContextGiven<D>,
        T: Target<S, D>,
    {
        let (target, opening) = self.opening(events);
        execute(target.erase(), opening)
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
        let graph = Arc::clone(&self.graph.0);
        Box::pin(TypedRun { graph, running: self.execute(None), state: PhantomData })
    }
}

/// A run whose outcome gets the type of its state.
// Not an async block in `into_future`, which would be compiled for each kind of run.
struct TypedRun<S> {
    graph: Arc<Compiled>,
    running: Running,
    state: PhantomData<fn() -> S>,
}

impl<S: GraphState> Future for TypedRun<S> {
    type Output = Result<Outcome<S>, Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.running.as_mut().poll(cx).map(|ended| match ended {
            Ok((_, outcome)) => outcome.typed().map_err(|kind| Error::new(&self.graph.name, kind)),
            Err(error) => Err(error),
        })
    }
}

impl<S: GraphState, D, C, T> std::fmt::Debug for Run<S, D, C, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Run")
            .field("graph", &self.graph.0.name)
            .field("options", &self.settings.options)
            .finish_non_exhaustive()
    }
}
