use std::any::Any;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use crate::checkpoint::{CheckpointId, StoredStatus};
use crate::engine::persist::{Persist, RetainedCheckpoint};
use crate::engine::{
    AppContext, Driver, Journal, Outside, ParentTask, Program, UpdatedNode, call_id, caught, earlier_call,
    journals, open_call, open_state, run_record, shared_from_outside, thread_task, withdraw,
    write_to_parents,
};
use crate::erased::{ErasedState, TaskWrites, WritesOf};
use crate::error::{Error, ErrorKind};
use crate::options::Durability;
use crate::run::{Begun, BoxedResult, ContextGiven, HasContext, IntoContext, NeedsContext, Opening, Run};
use crate::state::{GraphState, IntoUpdate};
use crate::step::Leave;
use crate::subgraph::{MakesContext, WiredTo, Wiring};
use crate::thread::erased::Expected;
use crate::thread::find_request::Request;
use crate::thread::resolve_as_node::AsNodeResolver;
use crate::thread::{AsNode, IntoAsNode};

use super::call_status::{CallStatus, call_status};
use super::subgraph_call::Selection;
use super::{CallParent, SubgraphCall};

/// An update of a subgraph call from outside a run. Made by [`SubgraphCall::update`].
///
/// Awaiting it writes the update and returns the id of the new checkpoint in the call's namespace.
///
/// The context of the thread's graph is required because route functions inside the subgraph may read it.
#[must_use = "an update does nothing until it is awaited"]
pub struct UpdateSubgraphCall<S: GraphState, D, G> {
    run: Run<S, D, G, CallUpdate>,
    writing: Begun<CheckpointId>,
}

struct CallUpdate {
    expected: Expected,
    idempotency_key: Option<Arc<str>>,
    make: Make,
}

/// Writes the update, with the context and options of the thread's graph.
type Make = Box<dyn FnOnce(Opening, Expected, Option<Arc<str>>) -> BoxedResult<CheckpointId> + Send>;

impl<T, C, D, W, X> SubgraphCall<T, C, D, W, X>
where
    T: CallParent,
    C: GraphState,
    D: Send + Sync + 'static,
    W: WiredTo<C, T::State>,
    X: MakesContext<T::Around, D>,
{
    /// Writes an update to a waiting call as if one of its nodes had returned it.
    ///
    /// The update passes through reducers and validation rules, and the nodes that follow `place` are planned. Resuming the
    /// thread continues from there. As with [`Thread::update`](crate::thread::Thread::update), `None` stands for the node that
    /// ran last, and END finishes the call.
    ///
    /// A call is waiting if it has an open interrupt, is at a breakpoint, sleeps, has failed, or was active when its run
    /// ended. The update discards the unfinished tasks of the call and withdraws their questions from the thread. Other tasks
    /// of the thread keep theirs. With [`keep_plan()`](crate::thread::keep_plan) the update only changes the state of the call,
    /// which waits as before.
    ///
    /// If the subgraph keeps its state ([`per_thread`](crate::subgraph::Subgraph::per_thread), or with keys), the start state
    /// of the next call can be updated before the first call and between two calls. No node is planned there, so `place` has
    /// to be END or `None`.
    ///
    /// ```
    /// # use superstep::checkpoint::MemoryCheckpointer;
    /// # use superstep::{Context, END, GraphState, Outcome, START, StateGraph, interrupt::Question, thread::as_node};
    /// # use serde::{Deserialize, Serialize};
    /// # #[derive(Serialize, Deserialize)]
    /// # struct Approve;
    /// # impl Question for Approve { type Answer = bool; }
    /// # #[derive(GraphState, Clone)]
    /// # struct Report { #[state(reducer = append)] notes: Vec<String> }
    /// async fn review(_: &Report, cx: &Context) -> ReportUpdate {
    ///     let approved = cx.interrupt(Approve).await;
    ///     Report::update().notes([format!("approved: {approved}")])
    /// }
    /// # async fn print(_: &Report) -> ReportUpdate { Report::update().notes(["printed".to_owned()]) }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> superstep::Result<()> {
    /// let press = StateGraph::<Report>::new().edge(START, review).edge(review, print).edge(print, END).compile()?;
    /// let press = press.as_node("press");
    /// let graph = StateGraph::<Report>::new().edge(START, &press).edge(&press, END).compile()?;
    /// let thread = graph.with_checkpointer(MemoryCheckpointer::default()).thread("17");
    /// assert!(matches!(thread.run(Report::input()).await?, Outcome::Interrupted(_)));
    ///
    /// // Answers for `review` without asking: its question is withdrawn.
    /// let note = Report::update().notes(["signed".to_owned()]);
    /// thread.within(&press).update(note, as_node(review)).await?;
    /// let report = thread.resume(()).await?.into_state();
    /// assert_eq!(report.notes, ["signed", "printed"]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Awaiting it fails like [`Thread::update`](crate::thread::Thread::update), and with
    /// [`NoSubgraphCall`](ErrorKind::NoSubgraphCall) if no call is waiting: the last one has finished, or there was none. Then
    /// nothing is written.
    ///
    /// # Cancel safety
    /// A dropped update has been written, or the call waits as before. In the second case it may ask its questions again when
    /// the thread is resumed.
    ///
    /// # Durability
    /// The update is durable when awaiting it returns. If the process dies before that, the same applies as to a dropped
    /// update.
    pub fn update(
        &self,
        update: impl IntoUpdate<C>,
        place: impl IntoAsNode,
    ) -> UpdateSubgraphCall<T::Root, T::Context, NeedsContext> {
        let graph = self.thread().graph.erased();
        let (call, updates) =
            (self.clone(), vec![vec![(WritesOf::<C>::erase(update.into_update()), place.into_place())]]);
        let make: Make = Box::new(move |opening, expected, key| {
            let request = key.map(|key| Request::update(key, None, &updates));
            Box::pin(call.make_once(updates, opening, expected, request))
        });
        let update = CallUpdate { expected: Expected::default(), idempotency_key: None, make };
        UpdateSubgraphCall { run: Run::of(graph, update), writing: Begun::not_yet() }
    }

    /// Writes the update, unless it was written before.
    async fn make_once(
        self,
        updates: Vec<Vec<(TaskWrites, Option<AsNode>)>>,
        opening: Opening,
        expected: Expected,
        request: Option<Request>,
    ) -> Result<CheckpointId, Error> {
        let Some(sent) = request else { return self.make(updates, opening, expected, None).await };
        let call = self.clone();
        let error = match self.make(updates, opening, expected, Some(sent.clone())).await {
            Ok(checkpoint) => return Ok(checkpoint),
            Err(error) => error,
        };
        // The other writer may have sent the same request.
        if matches!(error.kind(), ErrorKind::Conflict(_)) {
            let (namespace, _) = call.read(None).await?;
            let thread = call.thread().erased();
            if let Some(found) = sent.find(&thread.graph, &thread.name, &namespace).await? {
                return Ok(found.checkpoint);
            }
        }
        Err(error)
    }

    async fn make(
        self,
        updates: Vec<Vec<(TaskWrites, Option<AsNode>)>>,
        opening: Opening,
        expected: Expected,
        request: Option<Request>,
    ) -> Result<CheckpointId, Error> {
        let parents = self.outer.levels().await?;
        let (namespace, loaded) = self.read(None).await?;
        if let Some(request) = &request {
            let thread = self.thread().erased();
            if let Some(found) = request.find(&thread.graph, &thread.name, &namespace).await? {
                return Ok(found.checkpoint);
            }
        }
        let graph = self.subgraph.graph();
        let erased = graph.erased();
        let refuse = |kind| Error::new(graph.name(), kind);
        let (store, thread) = (&self.persistent().store, &self.thread().name);
        let resolver = AsNodeResolver { graph: &erased, store, thread, namespace: &namespace };
        let (outermost, parent) = match (parents.first(), parents.last()) {
            (Some(first), Some(last)) => (first, last),
            _ => return Err(refuse(ErrorKind::NoThread { thread: thread.to_string() })),
        };
        expected.check(&self.thread().erased(), outermost.fence)?;
        let head = loaded.fence.head;
        let status = call_status(thread, &parents, loaded.found).map_err(refuse)?;
        let of_thread = thread_task(thread, &parents).map_err(refuse)?;
        let (restored, parent_task, updates, writes) = match status {
            CallStatus::Waiting(stored, parent_task) => {
                let parent_task = parent_task.running_at(parent.id()).inside(of_thread);
                let last = resolver.last_writers(&stored.checkpoint).await?;
                let updates = resolver.resolve_supersteps(updates, last)?;
                let writes = match keeps_plan(&updates) {
                    // The call waits as before.
                    true => Vec::new(),
                    false => withdraw(thread, &parents, &stored, &parent_task).map_err(refuse)?,
                };
                // A call without further checkpoints began at this one.
                let begun = parent_task.begun.or_else(|| (!W::HERE).then_some(stored.checkpoint.id));
                let state = match W::HERE {
                    true => self.outer.state_at(parent_task.state_at()).await?,
                    false => None,
                };
                let base = state.as_ref().and_then(W::base).map(|base| base as &dyn ErasedState);
                let restored = open_call(&graph.0, thread, *stored, base);
                (Some(restored.map_err(refuse)?), ParentTask { begun, ..parent_task }, updates, writes)
            }
            CallStatus::Ended | CallStatus::NeverCalled if self.keeps_state() => {
                let parent_namespaces: Vec<Arc<str>> =
                    parents.iter().map(|parent| Arc::clone(&parent.namespace)).collect();
                let left = earlier_call(&**store, thread, &namespace, &parent_namespaces, parent.id()).await;
                let restored =
                    left.map_err(refuse)?.map(|stored| open_state(&graph.0, thread, stored)).transpose();
                let updates = updates_at_end(updates).map_err(refuse)?;
                (
                    restored.map_err(refuse)?,
                    ParentTask::at(parent.id(), None).inside(of_thread),
                    updates,
                    Vec::new(),
                )
            }
            other => return Err(self.no_subgraph_call(&namespace, &other)),
        };
        let id = match outermost.stored.checkpoint.next.is_empty() {
            true => Arc::from(CheckpointId::after(None).to_string()),
            // The update belongs to the unfinished run of the thread.
            false => Arc::clone(&outermost.stored.checkpoint.run.id),
        };
        let origin = outermost.origin.clone().unwrap_or_default();
        let (store, name, namespace_of) =
            (Arc::clone(store), Arc::clone(thread), Arc::clone(&outermost.namespace));
        let journal = Journal::new(store, name, namespace_of, origin, outermost.fence, Durability::Async);
        // The call no longer waits, so the thread has work for the next run.
        if !writes.is_empty() {
            journal.runs();
        }
        let journals = journals(journal, &parents);
        let Some(parent_journal) = journals.last() else { return Err(refuse(NO_PARENT_RUN)) };
        let journal =
            Journal::of_call(&parent_journal.shared, 0, Arc::clone(&namespace), head, Durability::Async);
        let call = call_id(thread, &parents, &parent_task).map_err(refuse)?;
        let Opening { graph: root, context, options, metadata, .. } = opening;
        let shared = shared_from_outside(&erased, thread, call, metadata.clone(), root.1.clone());
        let run = run_record(id, Program::of(&graph.0).text(), metadata);
        // Before anything is written to the parent runs.
        run.check_limits(thread).map_err(|error| refuse(ErrorKind::store(Arc::new(error))))?;
        let retained = match (W::HERE, self.keeps_state()) {
            (true, _) => RetainedCheckpoint::Parent,
            (false, true) => RetainedCheckpoint::Input,
            (false, false) => RetainedCheckpoint::Nothing,
        };
        let persist = Persist::new(journal, run, head).with_parent_task(parent_task, retained);
        let context: Arc<dyn Any + Send + Sync> = context;
        let context = context.downcast().map_err(|_| refuse(OTHER_CONTEXT))?;
        let parts = (Arc::clone(&graph.0), self.around(&context) as Arc<dyn AppContext>, shared, options);
        let made = Driver::with_updates(parts, persist, restored, (true, StoredStatus::default()), updates)?;
        write_to_parents(journals, writes).await.map_err(|error| refuse(ErrorKind::store(error)))?;
        let request = request.and_then(|request| request.update_record());
        made.conclude_updates(request).await
    }

    fn keeps_state(&self) -> bool {
        self.selection != Selection::Task && self.subgraph.is_per_thread(self.selection == Selection::Key)
    }
}

impl<T: CallParent, C: GraphState, D, W: Wiring<C>, X> SubgraphCall<T, C, D, W, X> {
    /// Returns the error for a call that cannot be updated.
    pub(crate) fn no_subgraph_call(&self, namespace: &Arc<str>, status: &CallStatus) -> Error {
        let thread = self.outer.thread();
        let ended = !matches!(status, CallStatus::NeverCalled);
        let (name, namespace) = (thread.name.to_string(), namespace.to_string());
        thread.erased().graph.refuse(ErrorKind::NoSubgraphCall { thread: name, namespace, ended })
    }
}

/// Returns `true` if the updates keep the plan of the call.
fn keeps_plan(updates: &[Vec<Outside>]) -> bool {
    updates.iter().flatten().all(|outside| outside.place == UpdatedNode::Plan)
}

/// Converts updates between two calls. No node follows them, so each must be made as END.
fn updates_at_end(updates: Vec<Vec<(TaskWrites, Option<AsNode>)>>) -> Result<Vec<Vec<Outside>>, ErrorKind> {
    let end = |(update, place): (TaskWrites, Option<AsNode>)| {
        if let Some(place) = place.filter(|place| !place.is_end() && !place.keeps_plan) {
            let reason = "no call is waiting, so no node can follow: use `END` or `None` between two calls";
            return Err(ErrorKind::InvalidAsNode {
                node: place.name().to_owned(),
                reason: reason.to_owned(),
            });
        }
        Ok(Outside { update, place: UpdatedNode::End, leave: Leave::ByEdges, inferred: false })
    };
    updates.into_iter().map(|superstep| superstep.into_iter().map(end).collect()).collect()
}

const OTHER_CONTEXT: ErrorKind =
    ErrorKind::Runtime("internal error: the context of the thread is of another type; please report this");

const NO_PARENT_RUN: ErrorKind = ErrorKind::Runtime("the subgraph call has no parent run");

impl<S: GraphState, D: Send + Sync + 'static> UpdateSubgraphCall<S, D, NeedsContext> {
    /// Sets the context of the thread's graph. The context of the subgraph is made from it.
    pub fn context(self, context: impl IntoContext<D>) -> UpdateSubgraphCall<S, D, HasContext<D>> {
        UpdateSubgraphCall { run: self.run.context(context), writing: self.writing }
    }
}

impl<S: GraphState, D: Send + Sync + 'static, G> UpdateSubgraphCall<S, D, G> {
    /// Adds a key to the metadata of the update's checkpoint.
    pub fn metadata(self, key: impl Into<String>, value: impl Into<serde_json::Value>) -> Self {
        Self { run: self.run.metadata(key, value), ..self }
    }

    /// Writes only if the thread has this [epoch](crate::thread::Snapshot::epoch), and fails with
    /// [`Conflict`](ErrorKind::Conflict) otherwise; as [for runs](Run::if_epoch).
    pub fn if_epoch(self, epoch: u64) -> Self {
        Self { run: self.run.set(|plan| plan.target.expected.epoch = Some(epoch)), ..self }
    }

    /// Sets the key of this update, so that it can be sent again safely: it is written at most once, and a repetition returns
    /// the id of the same checkpoint; as [for updates of a thread](crate::thread::UpdateThread::idempotency_key).
    ///
    /// The calls of a subgraph have their own keys: an update of the thread may have the same one.
    pub fn idempotency_key(self, key: impl AsRef<str>) -> Self {
        let key = key.as_ref().into();
        Self { run: self.run.set(|plan| plan.target.idempotency_key = Some(key)), ..self }
    }
}

impl<S, D, G> Future for UpdateSubgraphCall<S, D, G>
where
    S: GraphState,
    D: Send + Sync + 'static,
    G: ContextGiven<D>,
{
    type Output = Result<CheckpointId, Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { run, writing } = self.get_mut();
        if let Some((update, opening)) = run.take_opening() {
            let compiled = Arc::clone(&run.graph.0);
            writing.begin(Box::pin(async move {
                let CallUpdate { expected, idempotency_key, make } = update;
                caught(&compiled.name, make(opening, expected, idempotency_key)).await
            }));
        }
        writing.poll(cx, &run.graph.0.name)
    }
}

impl<S: GraphState, D, G> std::fmt::Debug for UpdateSubgraphCall<S, D, G> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("UpdateSubgraphCall").field("run", &self.run).finish_non_exhaustive()
    }
}
