use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::engine::{Driver, FailureMode, Memos, Metadata, RunOptions, RunShared};
use crate::error::Error;
use crate::graph::Graph;
use crate::state::GraphState;
use crate::stream::{Events, RunStream, Sink, StreamMode};

use super::{Outcome, Stepper};

/// A run that has not begun: set options, then await it, [`stream`](Self::stream) it, or [`start`](Self::start) it to
/// step by hand.
///
/// # Cancel safety
/// Dropping the future of a run cancels it: no further poll of its tasks starts, and none is left behind.
#[must_use = "a run does nothing until it is awaited, streamed or started"]
pub struct Run<S: GraphState, D, C> {
    graph: Graph<S, D>,
    input: S::Input,
    context: C,
    options: RunOptions,
    metadata: Metadata,
    modes: Vec<StreamMode>,
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
        Self {
            graph,
            input,
            context: NeedsContext,
            options: RunOptions::default(),
            metadata: Metadata::new(),
            modes: StreamMode::ALL.to_vec(),
        }
    }

    /// Gives the run the context that its nodes read as `&Ctx<D>`: a `D`, or an `Arc<D>` to share one between runs.
    pub fn context(self, context: impl Into<Arc<D>>) -> Run<S, D, HasContext<D>> {
        Run {
            graph: self.graph,
            input: self.input,
            context: HasContext(context.into()),
            options: self.options,
            metadata: self.metadata,
            modes: self.modes,
        }
    }
}

impl<S: GraphState, D: Send + Sync + 'static, C> Run<S, D, C> {
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

    /// What becomes of a failed node's siblings.
    pub fn on_failure(mut self, mode: FailureMode) -> Self {
        self.options.failure_mode = mode;
        self
    }

    /// Adds a key to the run's metadata, which nodes read with [`Cx::metadata`](crate::Cx::metadata).
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
        Ok(Stepper::new(self.drive(None)?))
    }

    /// The run as a stream of everything that happens in it.
    pub fn stream(self) -> RunStream<S>
    where
        C: Send + 'static,
    {
        let modes = self.modes.clone();
        RunStream::new(&modes, |events| {
            Box::pin(async move {
                let mut driver = self.drive(Some(events))?;
                driver.announce().await;
                Stepper::new(driver).finish_at().await
            })
        })
    }

    fn drive(self, events: Option<Events<S>>) -> Result<Driver<S, D>, Error> {
        let custom = events.clone().filter(|events| events.wants(StreamMode::Custom));
        let shared = RunShared {
            names: Arc::clone(&self.graph.0.names),
            metadata: self.metadata,
            sink: custom.map(|events| Arc::new(events) as Arc<dyn Sink>),
            memos: Memos::default(),
            steps: None,
            script: None,
        };
        Driver::start(&self.graph, self.input, self.context.into_context(), shared, self.options, events)
    }
}

impl<S: GraphState, D: Send + Sync + 'static, C: ContextGiven<D> + Send + 'static> IntoFuture
    for Run<S, D, C>
{
    type Output = Result<Outcome<S>, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move { self.start()?.finish().await })
    }
}

impl<S: GraphState, D, C> std::fmt::Debug for Run<S, D, C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Run")
            .field("graph", &self.graph)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}
