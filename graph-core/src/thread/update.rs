use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use crate::checkpoint::CheckpointId;
use crate::engine::{START, caught, open};
use crate::erased::{TaskWrites, WritesOf};
use crate::error::{Error, ErrorKind};
use crate::run::{
    Begun, BoxedResult, ContextGiven, HasContext, IntoContext, NeedsContext, Opening, Run, RunPlan,
};
use crate::state::{GraphState, IntoUpdate};

use super::erased::{ErasedThread, Expected};
use super::find_request::Request;
use super::load::read;
use super::resolve_as_node::AsNodeResolver;
use super::start_run::{persistence, require_checkpoint};
use super::{AsNode, IntoAsNode};

/// An update of a thread from outside a run. Made by [`Thread::update`](super::Thread::update).
///
/// Awaiting it writes the update and returns the id of the new checkpoint.
///
/// If the thread's head has pending tasks, the results of finished tasks are applied together with the update. Unfinished
/// tasks are discarded, with their answers and durable [steps](crate::Context::step): a node that is planned again starts
/// anew. To change the state of a waiting thread without discarding its tasks, use
/// [`keep_plan()`](super::keep_plan), or `thread.resume(()).update(..)` to continue at the same time. On an
/// older checkpoint, the update starts a new branch from the state of that checkpoint.
///
/// The graph's context is required because route functions may read it.
#[must_use = "an update does nothing until it is awaited"]
pub struct UpdateThread<S: GraphState, D, C> {
    run: Run<S, D, C, ErasedUpdate>,
    writing: Begun<CheckpointId>,
}

impl<S: GraphState, D: Send + Sync + 'static> UpdateThread<S, D, NeedsContext> {
    pub(super) fn new(
        thread: ErasedThread,
        at: Option<CheckpointId>,
        supersteps: Vec<Vec<(S::Update, Option<AsNode>)>>,
    ) -> Self {
        let erase = |(update, place)| (WritesOf::<S>::erase(update), place);
        let supersteps = supersteps.into_iter().map(|superstep| superstep.into_iter().map(erase).collect());
        let (graph, supersteps) = (thread.graph.graph.clone(), supersteps.collect());
        let update = ErasedUpdate { thread, at, expected: Expected::default(), request: None, supersteps };
        Self { run: Run::of(graph, update), writing: Begun::not_yet() }
    }

    /// Creates an update of several supersteps; each inner list is one superstep.
    pub(super) fn bulk<U: IntoUpdate<S>, P: IntoAsNode>(
        thread: ErasedThread,
        at: Option<CheckpointId>,
        supersteps: impl IntoIterator<Item = impl IntoIterator<Item = (U, P)>>,
    ) -> Self {
        let one = |(update, place): (U, P)| (update.into_update(), place.into_place());
        let all = supersteps.into_iter().map(|superstep| superstep.into_iter().map(one).collect());
        Self::new(thread, at, all.collect())
    }

    /// Sets the context for route functions and for fields marked `from_context`.
    pub fn context(self, context: impl IntoContext<D>) -> UpdateThread<S, D, HasContext<D>> {
        UpdateThread { run: self.run.context(context), writing: self.writing }
    }
}

impl<S: GraphState, D: Send + Sync + 'static, C> UpdateThread<S, D, C> {
    /// Adds a key to the metadata of the update's checkpoints.
    ///
    /// The metadata of the run is not copied: repeat the keys by which
    /// [lists](super::ThreadList::metadata) select the thread.
    pub fn metadata(self, key: impl Into<String>, value: impl Into<serde_json::Value>) -> Self {
        Self { run: self.run.metadata(key, value), ..self }
    }

    /// Writes only if the thread has this [epoch](super::Snapshot::epoch), and fails with
    /// [`Conflict`](crate::ErrorKind::Conflict) otherwise; as [for runs](Run::if_epoch).
    pub fn if_epoch(self, epoch: u64) -> Self {
        Self { run: self.run.set(|plan| plan.target.expected.epoch = Some(epoch)), ..self }
    }

    /// Sets the key of this update, so that it can be sent again safely: it is written at most once.
    ///
    /// If the thread has accepted an update with this key, the call writes nothing and returns the id of the checkpoint that
    /// the first one made. The key is stored with that checkpoint, and is known as long as the thread has it; see
    /// [`Run::idempotency_key`](Run::idempotency_key).
    ///
    /// ```
    /// # use superstep::checkpoint::MemoryCheckpointer;
    /// # use superstep::thread::as_node;
    /// # use superstep::{END, GraphState, START, StateGraph};
    /// # #[derive(GraphState, Clone)]
    /// # struct Cart { #[state(reducer = append)] items: Vec<String> }
    /// # async fn pay(_: &Cart) {}
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> superstep::Result<()> {
    /// # let graph = StateGraph::<Cart>::new().edge(START, pay).edge(pay, END).compile()?;
    /// # let thread = graph.with_checkpointer(MemoryCheckpointer::default()).thread("17");
    /// let tea = || Cart::update().items(["tea".to_owned()]);
    /// let first = thread.update(tea(), as_node(START)).idempotency_key("add-1").await?;
    /// let again = thread.update(tea(), as_node(START)).idempotency_key("add-1").await?;
    /// assert_eq!(first, again);
    /// # let cart = thread.state().await?.and_then(|at| at.state).expect("a state");
    /// assert_eq!(cart.items, ["tea"]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Awaiting the update fails with [`IdempotencyKeyReused`](crate::ErrorKind::IdempotencyKeyReused) if the thread has
    /// accepted another request with this key.
    pub fn idempotency_key(self, key: impl AsRef<str>) -> Self {
        let key = key.as_ref().into();
        let run = self.run.set(|RunPlan { target: update, .. }| {
            update.request = Some(Request::update(key, update.at, &update.supersteps));
        });
        Self { run, ..self }
    }
}

/// An update from outside, without its types.
struct ErasedUpdate {
    thread: ErasedThread,
    at: Option<CheckpointId>,
    expected: Expected,
    request: Option<Request>,
    supersteps: Vec<Vec<(TaskWrites, Option<AsNode>)>>,
}

/// Stores an update from outside, unless it was stored before.
fn make(update: ErasedUpdate, opening: Opening) -> BoxedResult<CheckpointId> {
    Box::pin(async move {
        let graph = Arc::clone(&update.thread.graph);
        let made = async {
            let (thread, request) = (update.thread.clone(), update.request.clone());
            let error = match store(update, opening).await {
                Ok(checkpoint) => return Ok(checkpoint),
                Err(error) => error,
            };
            // The other writer may have sent the same request.
            if let Some(request) = &request
                && matches!(error.kind(), ErrorKind::Conflict(_))
                && let Some(found) = request.find(&thread.graph, &thread.name, &Arc::from("")).await?
            {
                return Ok(found.checkpoint);
            }
            Err(error)
        };
        caught(&graph.graph.0.name, made).await
    })
}

async fn store(update: ErasedUpdate, mut opening: Opening) -> Result<CheckpointId, Error> {
    let ErasedUpdate { thread, at, expected, request, supersteps } = update;
    let refuse = |kind| thread.graph.refuse(kind);
    let mut loaded = read(&thread, at).await?;
    // This follows the read of the thread: if the same request is made now, our write is refused.
    if let Some(request) = &request
        && let Some(found) = request.find(&thread.graph, &thread.name, &Arc::from("")).await?
    {
        return Ok(found.checkpoint);
    }
    require_checkpoint(&thread, &loaded, at)?;
    expected.check(&thread, loaded.fence)?;
    let compiled = Arc::clone(&thread.graph.graph.0);
    let stored = loaded.found.take();
    let namespace = Arc::from("");
    let resolver = AsNodeResolver {
        graph: &thread.graph.graph,
        store: &thread.graph.store,
        thread: &thread.name,
        namespace: &namespace,
    };
    let last = match &stored {
        Some(stored) => resolver.last_writers(&stored.checkpoint).await?,
        None => vec![START.to_owned()],
    };
    let is_head = stored.as_ref().is_some_and(|stored| Some(stored.checkpoint.id) == loaded.fence.head);
    let restored = stored.map(|stored| open(&compiled, &thread.name, stored)).transpose();
    let restored = restored.map_err(refuse)?;
    let all = resolver.resolve_supersteps(supersteps, last)?;
    // An update of an unfinished run belongs to that run.
    let id = restored.as_ref().filter(|_| is_head).and_then(|restored| restored.run_id(&compiled));
    let status = loaded.status;
    let (persist, shared) = persistence(&thread, loaded, id, &mut opening)?;
    let Opening { context, options, .. } = opening;
    let parts = (compiled, context, shared, options);
    let request = request.and_then(|request| request.update_record());
    crate::engine::Driver::with_updates(parts, persist, restored, (is_head, status), all)?
        .conclude_updates(request)
        .await
}

impl<S, D, C> Future for UpdateThread<S, D, C>
where
    S: GraphState,
    D: Send + Sync + 'static,
    C: ContextGiven<D>,
{
    type Output = Result<CheckpointId, Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { run, writing } = self.get_mut();
        if let Some((update, opening)) = run.take_opening() {
            writing.begin(make(update, opening));
        }
        writing.poll(cx, &run.graph.0.name)
    }
}

impl<S: GraphState, D, C> std::fmt::Debug for UpdateThread<S, D, C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let update = self.run.plan.as_deref().map(|plan| &plan.target);
        f.debug_struct("UpdateThread")
            .field("thread", &update.map(|update| &update.thread.name))
            .field("at", &update.and_then(|update| update.at))
            .finish_non_exhaustive()
    }
}
