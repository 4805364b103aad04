use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::sync::Arc;

use crate::checkpoint::{CheckpointId, StoredCheckpoint};
use crate::engine::persist::{
    Journal, Level, Needs, Outside, Persist, Place, Program, Under, before, call_id, journals, open_state,
    open_within, run_record, shared_from_outside, under, withdraw, write_around,
};
use crate::engine::{Driver, Durability};
use crate::error::{Error, ErrorKind};
use crate::node::Leave;
use crate::run::{ContextGiven, HasContext, NeedsContext, Opening, Run};
use crate::state::{GraphState, IntoUpdate};
use crate::subgraph::{MakesContext, WiredTo, Wiring};
use crate::thread::as_whom::Line;
use crate::thread::{AsNode, IntoAsNode};

use super::calls::Chosen;
use super::{Outer, SubgraphCall};

/// A write to a call of a subgraph from outside; awaiting it makes it, and gives the id of its checkpoint, which is one of the
/// call's. Made by [`SubgraphCall::update`].
///
/// It needs the context of the thread's graph, since route functions within may.
#[must_use = "an update does nothing until it is awaited"]
pub struct UpdateSubgraphCall<S: GraphState, D, G> {
    run: Run<S, D, G, ()>,
    make: Make<S, D>,
}

/// Makes the update, with what the thread's graph has.
type Make<S, D> = Box<dyn FnOnce(Opening<S, D>) -> Made + Send>;

type Made = Pin<Box<dyn Future<Output = Result<CheckpointId, Error>> + Send>>;

impl<T, C, D, W, X> SubgraphCall<T, C, D, W, X>
where
    T: Outer,
    C: GraphState,
    D: Send + Sync + 'static,
    W: WiredTo<C, T::State>,
    X: MakesContext<T::Around, D>,
{
    /// Writes to a call that waits, as if one of its nodes had: through reducers and rules; what follows that node is planned
    /// then. Resuming the thread goes on from there. As with [`Thread::update`](crate::thread::Thread::update) the place may
    /// be left to what ran last (`None`), and END finishes the call.
    ///
    /// A call waits when it has asked something, has come to a breakpoint, sleeps, has failed, or was under way when its run
    /// ended. What it waited for is given up with what had not finished of its superstep: its questions are none of the thread's
    /// any more. What others of the thread's tasks wait for stays.
    ///
    /// Of a subgraph that keeps its state ([`per_thread`](crate::subgraph::Subgraph::per_thread) or with keys) what the next
    /// call begins with can be written to between two calls, and before the first. Nothing is planned there, so that the place
    /// is END, or none.
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
    /// // Nobody is asked any more: somebody has done what `review` does.
    /// let note = Report::update().notes(["signed".to_owned()]);
    /// thread.within(&press).update(note, as_node(review)).await?;
    /// let report = thread.resume(()).await?.into_state();
    /// assert_eq!(report.notes, ["signed", "printed"]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Awaiting it fails as an update of a thread does, and with [`NoCall`](ErrorKind::NoSubgraphCall) where no call waits, since the
    /// last one has come to its end or there was none. Nothing is written then.
    ///
    /// # Durability
    /// When it has returned, everything is durable. Should its process die on the way, the call waits as before, and asks
    /// again once the thread is resumed.
    ///
    /// # Cancel safety
    /// Dropped on its way, it has been made, or the call waits as before and asks again once the thread is resumed.
    pub fn update(
        &self,
        update: impl IntoUpdate<C>,
        place: impl IntoAsNode,
    ) -> UpdateSubgraphCall<T::Root, T::Context, NeedsContext> {
        let run = Run::of(self.thread().graph.graph().clone(), ());
        let (within, updates) = (self.clone(), vec![vec![(update.into_update(), place.into_place())]]);
        UpdateSubgraphCall { run, make: Box::new(move |opening| Box::pin(within.make(updates, opening))) }
    }

    async fn make(
        self,
        updates: Vec<Vec<(C::Update, Option<AsNode>)>>,
        opening: Opening<T::Root, T::Context>,
    ) -> Result<CheckpointId, Error> {
        let around = self.outer.levels().await?;
        let (namespace, loaded) = self.read(None).await?;
        let graph = self.subgraph.graph();
        let refuse = |kind| Error::new(graph.name(), kind);
        let (store, thread) = (&self.graph().0.store, &self.thread().name);
        let line = Line { graph: &graph, store, thread, namespace: &namespace };
        let (outermost, level) = match (around.first(), around.last()) {
            (Some(first), Some(last)) => (first, last),
            _ => return Err(refuse(ErrorKind::NoThread { thread: thread.to_string() })),
        };
        let head = loaded.fence.head;
        let (opened, within, updates, writes) = match standing(&around, loaded.found) {
            CallStanding::Waits(stored, within) => {
                let last = line.wrote_last(&stored.checkpoint).await?;
                let updates = line.supersteps(updates, last)?;
                let writes = withdraw(&around, &stored, &within);
                // Where it has not come further than that, it has begun here.
                let begun = within.begun.or_else(|| (!W::HERE).then_some(stored.checkpoint.id));
                let state = match W::HERE {
                    true => self.outer.state_at(within.checkpoint).await?,
                    false => None,
                };
                let opened = open_within(&graph.0, thread, *stored, state.as_ref().and_then(W::base));
                (Some(opened.map_err(refuse)?), Under { begun, ..within }, updates, writes)
            }
            CallStanding::Ended | CallStanding::Nothing if self.keeps_its_state() => {
                let left = before(&**store, thread, &namespace, &level.namespace, level.id()).await;
                let left = left.map_err(|error| refuse(ErrorKind::store(Arc::new(error))))?;
                let opened = left.map(|stored| open_state(&graph.0, thread, stored)).transpose();
                let updates = finishing(updates).map_err(refuse)?;
                (opened.map_err(refuse)?, Under::at(level.id(), None), updates, Vec::new())
            }
            other => return Err(self.no_call(&namespace, &other)),
        };
        let id = match outermost.stored.checkpoint.next.is_empty() {
            true => Arc::from(CheckpointId::after(None).to_string()),
            // It is a part of the run that is there.
            false => Arc::clone(&outermost.stored.checkpoint.run.id),
        };
        let origin = outermost.origin.clone().unwrap_or_default();
        let (store, name, namespace_of) =
            (Arc::clone(store), Arc::clone(thread), Arc::clone(&outermost.namespace));
        let journal = Journal::new(store, name, namespace_of, origin, outermost.fence, Durability::Async);
        let journals = journals(journal, &around);
        let Some(outer) = journals.last() else { return Err(refuse(LOST)) };
        let journal = Journal::within(&outer.shared, Arc::clone(&namespace), head, Durability::Async);
        let call = call_id(thread, &around, &within);
        let Opening { graph: root, context, options, metadata, .. } = opening;
        let shared = shared_from_outside(&graph, thread, call, metadata.clone(), root.1.clone());
        let run = run_record(id, Program::of(&graph.0).text(), metadata);
        let needs = match (W::HERE, self.keeps_its_state()) {
            (true, _) => Needs::Around,
            (false, true) => Needs::Beginning,
            (false, false) => Needs::Nothing,
        };
        let persist = Persist::new(journal, run, head).within(within, needs);
        let parts = (Arc::clone(&graph.0), self.around(&context), shared, options);
        let made = Driver::with_updates(parts, persist, opened, true, updates)?;
        write_around(journals, writes).await.map_err(|error| refuse(ErrorKind::store(error)))?;
        made.conclude_updates().await
    }

    fn keeps_its_state(&self) -> bool {
        self.chosen != Chosen::Task && self.subgraph.keeps_its_state(self.chosen == Chosen::Key)
    }
}

impl<T: Outer, C: GraphState, D, W: Wiring<C>, X> SubgraphCall<T, C, D, W, X> {
    /// That there is no call to write to.
    pub(super) fn no_call(&self, namespace: &Arc<str>, standing: &CallStanding) -> Error {
        let thread = self.outer.thread();
        let ended = !matches!(standing, CallStanding::Nothing);
        let (name, namespace) = (thread.name.to_string(), namespace.to_string());
        thread.graph.refuse(ErrorKind::NoSubgraphCall { thread: name, namespace, ended })
    }
}

/// How the last call of a subgraph stands.
pub(super) enum CallStanding {
    /// It waits, within this task.
    Waits(Box<StoredCheckpoint>, Under),
    /// It has come to its end, and the superstep that has called it has not.
    Ending,
    /// It has come to its end, or was given up.
    Ended,
    /// There has been none.
    Nothing,
}

/// How the call stands that was `found` as the last one within these runs.
pub(super) fn standing(around: &[Level], found: Option<StoredCheckpoint>) -> CallStanding {
    let Some(stored) = found else { return CallStanding::Nothing };
    match (under(&stored.checkpoint), around.last()) {
        (Some(within), Some(level)) if !within.between && within.checkpoint == level.id() => {
            match level.has_finished(within.task) {
                true => CallStanding::Ending,
                false => CallStanding::Waits(Box::new(stored), within),
            }
        }
        _ => CallStanding::Ended,
    }
}

/// Updates of what a call has left: nothing follows them.
fn finishing<S: GraphState>(
    updates: Vec<Vec<(S::Update, Option<AsNode>)>>,
) -> Result<Vec<Vec<Outside<S>>>, ErrorKind> {
    let end = |(update, place): (S::Update, Option<AsNode>)| {
        if let Some(place) = place.filter(|place| !place.is_end()) {
            let reason = "no call is under way that could go on from there: between two calls the place is END, or none";
            return Err(ErrorKind::InvalidAsNode {
                node: place.name().to_owned(),
                reason: reason.to_owned(),
            });
        }
        Ok(Outside { update, place: Place::End, leave: Leave::ByEdges })
    };
    updates.into_iter().map(|superstep| superstep.into_iter().map(end).collect()).collect()
}

const LOST: ErrorKind = ErrorKind::Runtime("a call is within no run");

impl<S: GraphState, D: Send + Sync + 'static> UpdateSubgraphCall<S, D, NeedsContext> {
    /// Gives the context of the thread's graph, which that of the subgraph is or is made from.
    pub fn context(self, context: impl Into<Arc<D>>) -> UpdateSubgraphCall<S, D, HasContext<D>> {
        UpdateSubgraphCall { run: self.run.context(context), make: self.make }
    }
}

impl<S: GraphState, D: Send + Sync + 'static, G> UpdateSubgraphCall<S, D, G> {
    /// Adds a key to the metadata of its checkpoint.
    pub fn metadata(self, key: impl Into<String>, value: impl Into<serde_json::Value>) -> Self {
        Self { run: self.run.metadata(key, value), ..self }
    }
}

impl<S, D, G> IntoFuture for UpdateSubgraphCall<S, D, G>
where
    S: GraphState,
    D: Send + Sync + 'static,
    G: ContextGiven<D> + Send + 'static,
{
    type Output = Result<CheckpointId, Error>;
    type IntoFuture = Made;

    fn into_future(self) -> Made {
        let ((), opening) = self.run.opening(None);
        (self.make)(opening)
    }
}

impl<S: GraphState, D, G> std::fmt::Debug for UpdateSubgraphCall<S, D, G> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("UpdateSubgraphCall").field("run", &self.run).finish_non_exhaustive()
    }
}
