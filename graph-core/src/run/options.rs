use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;

use crate::engine::{Driver, FailureMode, Memos, Metadata, Nest, RunOptions, RunShared, RunSpan};
use crate::error::{Error, ErrorKind};
use crate::graph::Graph;
use crate::node::{Body, Shape};
use crate::state::GraphState;
use crate::stream::event::StreamMode;
use crate::stream::{Events, RunStream, Sent, Sink};

use super::{Outcome, Stepper, Stop};

/// A run that has not begun: set options, then await it, [`stream`](Self::stream) it, or [`start`](Self::start) it to
/// step by hand.
///
/// # Cancel safety
/// Dropping the future of a run cancels it: no further poll of its tasks starts, and none is left behind.
#[must_use = "a run does nothing until it is awaited, streamed or started"]
pub struct Run<S: GraphState, D, C, T = InMemory<S>> {
    pub(crate) graph: Graph<S, D>,
    /// What is to be run.
    pub(crate) target: T,
    context: C,
    pub(crate) options: RunOptions,
    metadata: Metadata,
    modes: Vec<StreamMode>,
}

/// A run that lives in this process: its input.
pub struct InMemory<S: GraphState>(S::Input);

/// What a run is about: an input in memory, or a thread of a store.
pub trait Target<S: GraphState, D>: Sized + Send + 'static {
    /// What the run is, for whoever traces it.
    #[doc(hidden)]
    fn about(&self) -> About<'_>;

    /// The run up to its first superstep.
    #[doc(hidden)]
    fn open(self, opening: Opening<S, D>) -> impl Future<Output = Result<Opened<S, D>, Error>> + Send;
}

/// What a run is, for its span.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct About<'a> {
    /// What begins it.
    pub begin: &'static str,
    /// The thread that it is on.
    pub thread: Option<&'a str>,
    /// Its id, if it was given one.
    pub run_id: Option<&'a str>,
}

/// What a run is opened with.
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
    /// It is to be driven.
    Begun(Box<OpenedRun<S, D>>),
    /// There is nothing to run: what it would have come to, and after which superstep.
    Ended(u64, Outcome<S>),
}

/// A run that is to be driven.
#[doc(hidden)]
pub struct OpenedRun<S: GraphState, D>(pub(crate) Driver<S, D>);

impl<S: GraphState, D: Send + Sync + 'static> OpenedRun<S, D> {
    /// The driver.
    pub(crate) fn into_driver(self) -> Driver<S, D> {
        let Self(driver) = self;
        driver.spans.has_id(driver.run_id());
        driver
    }
}

impl<S: GraphState, D: Send + Sync + 'static> Opening<S, D> {
    /// The run's span, which begins now; none if nobody listens.
    pub(crate) fn trace<T: Target<S, D>>(&mut self, target: &T) -> RunSpan {
        self.spans = RunSpan::begin(self.graph.name(), || target.about());
        self.spans.clone()
    }

    /// The same once more, for another try.
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

    /// A run that was cancelled before it has begun does not begin.
    pub(crate) fn not_cancelled(&self) -> Result<(), Error> {
        match &self.options.stop {
            Some(stop) if stop.is_cancelled() => Err(self.not_begun()),
            _ => Ok(()),
        }
    }

    /// What a run fails with that was told to stop before it could begin.
    pub(crate) fn not_begun(&self) -> Error {
        Error::new(self.graph.name(), ErrorKind::Cancelled { step: None, unfinished: Vec::new() })
    }

    /// What the run's tasks have in common.
    pub(crate) fn shared(&self, thread: Option<Arc<str>>) -> RunShared {
        let hears = |events: &Events<S>| Sent::MODES.iter().any(|mode| events.wants(*mode));
        let heard = self.events.clone().filter(hears);
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
            sink: heard.map(|events| Arc::new(events) as Arc<dyn Sink>),
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

/// No context has been given to a run yet; runs of graphs without a context need none.
#[derive(Clone, Copy, Debug)]
pub struct NeedsContext;

/// The context that a run was given.
#[derive(Debug)]
pub struct HasContext<D>(Arc<D>);

/// A run has what its graph asks for.
#[diagnostic::on_unimplemented(
    message = "a run of this graph needs a context of type `{D}`",
    label = "give it with `.context(..)` first"
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

    /// Gives the run the context that its nodes read as `&ContextWith<D>`: a `D`, or an `Arc<D>` to share one between runs.
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
    /// Lets the run have so many supersteps; [`DEFAULT_RECURSION_LIMIT`](crate::DEFAULT_RECURSION_LIMIT) if it is not
    /// said. A run that is complete after exactly so many is complete.
    pub fn recursion_limit(mut self, supersteps: u64) -> Self {
        self.options.recursion_limit = supersteps;
        self
    }

    /// Lets no more than so many tasks of a superstep run at the same time; 0 is refused when the run starts.
    pub fn max_concurrency(mut self, tasks: usize) -> Self {
        self.options.max_concurrency = Some(tasks);
        self
    }

    /// Fails the run when one superstep takes longer; needs tokio's timer.
    pub fn superstep_timeout(mut self, limit: Duration) -> Self {
        self.options.superstep_timeout = Some(limit);
        self
    }

    /// Lets this stop the run from outside, at once or at the next boundary between supersteps. One said later takes its
    /// place; a [child](Stop::child) obeys two.
    pub fn stop_by(mut self, stop: &Stop) -> Self {
        self.options.stop = Some(stop.clone());
        self
    }

    /// What becomes of a failed node's siblings; as [the graph says](crate::StateGraph::on_failure) if it is not said.
    pub fn on_failure(mut self, mode: FailureMode) -> Self {
        self.options.failure_mode = Some(mode);
        self
    }

    /// Lets this run stop before a superstep in which the node would run, as
    /// [`StateGraph::interrupt_before`](crate::StateGraph::interrupt_before) does every run.
    pub fn interrupt_before<N, M, F>(mut self, node: N) -> Self
    where
        N: Shape<M, Body = Body<F>>,
    {
        self.options.breakpoints.before.at.push(node.into_body().node);
        self
    }

    /// Lets this run stop after a superstep in which the node has run, unless nothing follows it.
    pub fn interrupt_after<N, M, F>(mut self, node: N) -> Self
    where
        N: Shape<M, Body = Body<F>>,
    {
        self.options.breakpoints.after.at.push(node.into_body().node);
        self
    }

    /// Lets this run stop before each superstep.
    pub fn interrupt_before_all(mut self) -> Self {
        self.options.breakpoints.before.at_all = true;
        self
    }

    /// Lets this run stop after each superstep but the last.
    pub fn interrupt_after_all(mut self) -> Self {
        self.options.breakpoints.after.at_all = true;
        self
    }

    /// Adds a key to the run's metadata, which nodes read with [`Context::metadata`](crate::Context::metadata).
    pub fn metadata(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.metadata.insert(key.into(), value.into());
        self
    }

    /// Which events [`stream`](Self::stream) shall carry; all if it is not said. Those not asked for are never made.
    pub fn events(mut self, modes: impl IntoIterator<Item = StreamMode>) -> Self {
        self.modes = modes.into_iter().collect();
        self
    }
}

impl<S: GraphState, D: Send + Sync + 'static, C: ContextGiven<D>> Run<S, D, C> {
    /// Applies the input, and leaves it to the caller to run superstep by superstep.
    ///
    /// # Errors
    /// The input breaks a rule, or the route that leaves START failed.
    pub fn start(self) -> Result<Stepper<S, D>, Error> {
        let (target, mut opening) = self.opening(None);
        let spans = opening.trace(&target);
        let not_cancelled = opening.not_cancelled();
        let shared = opening.shared(None);
        let Opening { graph, context, options, events, .. } = opening;
        let start = || Driver::start(&graph, target.0, context, shared, options, events);
        let started = not_cancelled.and_then(|()| spans.within(start));
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

    /// The run as a stream of everything that happens in it.
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
        let (target, mut opening) = self.opening(events);
        let spans = opening.trace(&target);
        let run = async move {
            opening.not_cancelled()?;
            match target.open(opening).await? {
                Opened::Ended(superstep, outcome) => Ok((superstep, outcome)),
                Opened::Begun(begun) => {
                    let mut driver = begun.into_driver();
                    driver.announce().await;
                    Stepper::new(driver).finish_at().await
                }
            }
        };
        let result = spans.around(run).await;
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
