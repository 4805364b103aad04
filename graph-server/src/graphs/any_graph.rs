use std::pin::Pin;
use std::sync::Arc;

use futures_core::Stream;
use serde_json::Value;
use superstep::checkpoint::{CheckpointId, Checkpointer};
use superstep::graph::GraphShape;
use superstep::store::LongTermStore;
use superstep::thread::CallSnapshot;

use super::{Execution, RunContext, RunFailure, RunSpec, Schemas, ServedEvent, StateView, Way};
use crate::api_error::ApiResult;

/// A future of this module.
pub(crate) type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The events of a run. The stream drives the run; dropping it cancels the run.
pub(crate) type Events = Pin<Box<dyn Stream<Item = Result<ServedEvent, RunFailure>> + Send>>;

/// The stores that all graphs of a server share.
#[derive(Clone)]
pub struct Stores {
    pub(crate) checkpointer: Arc<dyn Checkpointer>,
    pub(crate) store: LongTermStore,
}

/// A graph that is bound to the stores of a server.
pub struct Bound(pub(crate) Arc<dyn AnyGraph>);

/// A graph without the types of its state and its context.
///
/// The methods that take a thread need its name in the checkpointer.
pub(crate) trait AnyGraph: Send + Sync + 'static {
    /// Returns the structure of the graph.
    fn shape(&self) -> GraphShape;

    /// Returns `true` if a node of the graph is a subgraph.
    fn has_subgraphs(&self) -> bool;

    /// Returns the JSON Schemas of the graph.
    fn schemas(&self) -> &Schemas;

    /// Returns `true` if the state has a field of this name that may be shown.
    fn shows(&self, field: &str) -> bool;

    /// Reads everything of a run that can be read without its thread: input, update, nodes, context.
    ///
    /// # Errors
    /// All problems of the part that is wrong, with their paths.
    fn prepare(&self, spec: RunSpec) -> ApiResult<Box<dyn PreparedRun>>;

    /// Reads a snapshot of a thread; of its latest checkpoint if none is given. `None` if the thread has no checkpoint.
    fn state<'a>(
        &'a self,
        thread: &'a str,
        at: Option<CheckpointId>,
    ) -> Boxed<'a, ApiResult<Option<StateView>>>;

    /// Reads snapshots of a thread, newest first.
    fn history<'a>(&'a self, thread: &'a str, query: HistoryQuery) -> Boxed<'a, ApiResult<Vec<StateView>>>;

    /// Reads the subgraph calls that the tasks of a checkpoint have made.
    fn calls<'a>(
        &'a self,
        thread: &'a str,
        at: Option<CheckpointId>,
    ) -> Boxed<'a, ApiResult<Vec<CallSnapshot>>>;

    /// Reads the checkpoints of the subgraph calls in a namespace, newest first.
    fn call_history<'a>(
        &'a self,
        thread: &'a str,
        namespace: &'a str,
        query: HistoryQuery,
    ) -> Boxed<'a, ApiResult<Vec<CallSnapshot>>>;

    /// Writes updates to a thread, and returns the new checkpoint.
    fn update<'a>(&'a self, thread: &'a str, update: UpdateSpec) -> Boxed<'a, ApiResult<CheckpointId>>;

    /// Removes everything that a run has done on a thread.
    fn undo<'a>(
        &'a self,
        thread: &'a str,
        run_id: &'a str,
        base: Option<CheckpointId>,
    ) -> Boxed<'a, ApiResult<()>>;
}

/// A run whose JSON was read.
pub(crate) trait PreparedRun: Send {
    /// Decides how the run begins on a thread. Nothing is written.
    ///
    /// # Errors
    /// The run cannot begin there: its checkpoint does not exist, or an answer does not fit an open question.
    fn decide<'a>(&'a self, thread: Option<&'a str>) -> Boxed<'a, ApiResult<Way>>;

    /// Starts the run.
    fn start(self: Box<Self>, execution: Execution) -> Boxed<'static, Result<Events, RunFailure>>;
}

/// A choice of checkpoints.
#[derive(Clone, Debug, Default)]
pub(crate) struct HistoryQuery {
    pub(crate) limit: usize,
    pub(crate) before: Option<CheckpointId>,
    pub(crate) metadata: serde_json::Map<String, Value>,
}

/// Updates of a thread.
#[derive(Debug, Default)]
pub(crate) struct UpdateSpec {
    /// Each inner list is one superstep. The second item is the node in whose place the update is made.
    pub(crate) supersteps: Vec<Vec<(Value, Option<String>)>>,
    pub(crate) at: Option<CheckpointId>,
    pub(crate) context: RunContext,
    pub(crate) metadata: serde_json::Map<String, Value>,
}
