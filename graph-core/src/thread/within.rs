//! What a thread has of the runs within its runs.

use std::future::Future;
use std::sync::Arc;

use crate::checkpoint::{CheckpointId, Loaded, Query};
use crate::engine::child::{escape, namespace};
use crate::engine::persist::under;
use crate::error::{Error, ErrorKind};
use crate::run::{NeedsContext, Run};
use crate::state::GraphState;
use crate::subgraph::{Subgraph, WiredTo, Wiring};

use super::load::{load, snapshot};
use super::run::{Again, OnThread};
use super::{PersistentGraph, Snapshot, Thread};

/// The calls of a subgraph on a thread: their state and their history; made by [`Thread::within`].
///
/// ```
/// # use graph_core::checkpoint::MemoryCheckpointer;
/// # use graph_core::{END, GraphState, START, StateGraph};
/// # #[derive(GraphState, Clone)]
/// # struct Report { #[state(reducer = append)] notes: Vec<String> }
/// # async fn search(_: &Report) -> ReportUpdate { Report::update().notes(["found it".to_owned()]) }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> graph_core::Result<()> {
/// # let research = StateGraph::<Report>::new().edge(START, search).edge(search, END).compile()?;
/// let research = research.as_node("research");
/// let graph = StateGraph::<Report>::new().edge(START, &research).edge(&research, END).compile()?;
/// let thread = graph.with_checkpointer(MemoryCheckpointer::default()).thread("17");
/// thread.run(Report::input()).await?;
///
/// let inner = thread.within(&research).state().await?.expect("it was called");
/// assert_eq!(&*inner.namespace, "research");
/// assert_eq!(inner.state.expect("it has begun").notes, ["found it"]);
/// # Ok(())
/// # }
/// ```
pub struct Within<T, C: GraphState, D, W: Wiring<C>, X> {
    outer: T,
    subgraph: Subgraph<C, D, W, X>,
    namespace: Arc<str>,
}

/// One of the checkpoints of a call; made by [`Within::at`].
pub struct WithinAt<'w, T, C: GraphState, D, W: Wiring<C>, X> {
    within: &'w Within<T, C, D, W, X>,
    checkpoint: CheckpointId,
}

/// A run of a thread that goes on from one of its checkpoints.
type AgainOf<S, D> = Run<S, D, NeedsContext, OnThread<S, D, Again<S>>>;

/// What calls of subgraphs are made within: a thread, or calls of another subgraph.
pub trait Outer: Sync {
    /// The state around them.
    type State: GraphState;
    /// The state of the thread.
    type Root: GraphState;
    /// The context of the thread's graph.
    type Context: Send + Sync + 'static;

    #[doc(hidden)]
    fn thread(&self) -> &Thread<Self::Root, Self::Context>;

    #[doc(hidden)]
    fn namespace(&self) -> &str;

    #[doc(hidden)]
    fn state_at(
        &self,
        checkpoint: CheckpointId,
    ) -> impl Future<Output = Result<Option<Self::State>, Error>> + Send;
}

impl<S: GraphState, D: Send + Sync + 'static> Outer for Thread<S, D> {
    type State = S;
    type Root = S;
    type Context = D;

    fn thread(&self) -> &Self {
        self
    }

    fn namespace(&self) -> &str {
        ""
    }

    async fn state_at(&self, checkpoint: CheckpointId) -> Result<Option<S>, Error> {
        Ok(load(self, Some(checkpoint)).await?.and_then(|snapshot| snapshot.state))
    }
}

impl<S: GraphState, D: Send + Sync + 'static> Thread<S, D> {
    /// The calls of a subgraph on this thread.
    pub fn within<C, E, W, X>(&self, subgraph: &Subgraph<C, E, W, X>) -> Within<Self, C, E, W, X>
    where
        C: GraphState,
        W: WiredTo<C, S>,
    {
        Within::of(self.clone(), subgraph)
    }
}

impl<T: Outer, C: GraphState, D, W: Wiring<C>, X> Within<T, C, D, W, X> {
    fn of(outer: T, subgraph: &Subgraph<C, D, W, X>) -> Self {
        let namespace = namespace(outer.namespace(), subgraph.name());
        Self { outer, subgraph: subgraph.clone(), namespace: namespace.into() }
    }

    /// The calls of the task at this place of its superstep, of a subgraph that is sent packets.
    pub fn task(mut self, task: usize) -> Self {
        self.namespace = format!("{}#{task}", self.namespace).into();
        self
    }

    /// The calls with this key, of a subgraph whose calls have keys.
    pub fn key(mut self, key: &str) -> Self {
        let mut namespace = format!("{}:", self.namespace);
        escape(key, &mut namespace);
        self.namespace = namespace.into();
        self
    }
}

impl<T, C, D, W, X> Within<T, C, D, W, X>
where
    T: Outer,
    C: GraphState,
    D: Send + Sync + 'static,
    W: WiredTo<C, T::State>,
    X: Send + Sync,
{
    /// The calls of a subgraph within this one.
    pub fn within<B, E, V, Y>(self, subgraph: &Subgraph<B, E, V, Y>) -> Within<Self, B, E, V, Y>
    where
        B: GraphState,
        V: WiredTo<B, C>,
    {
        Within::of(self, subgraph)
    }

    /// The newest call, as it is; `None` before the first.
    ///
    /// # Errors
    /// As [`Thread::state`]; a call goes on with the state around it, and cannot be shown any more when the checkpoint that has
    /// that was pruned.
    ///
    /// # Cancel safety
    /// It only reads.
    pub async fn state(&self) -> Result<Option<Snapshot<C>>, Error> {
        self.load(None).await
    }

    /// The checkpoints of all calls, newest first.
    ///
    /// # Errors
    /// As [`state`](Self::state).
    ///
    /// # Cancel safety
    /// It only reads.
    pub async fn history(&self) -> Result<Vec<Snapshot<C>>, Error> {
        let mut query = Query {
            thread: Arc::clone(&self.thread().name),
            namespace: Arc::clone(&self.namespace),
            limit: Some(64),
            ..Query::default()
        };
        let mut all = Vec::new();
        loop {
            let page = self.graph().0.store.list(query.clone()).await;
            let page = page.map_err(|error| self.graph().error(error))?;
            for checkpoint in &page.items {
                all.extend(self.load(Some(checkpoint.id)).await?);
            }
            match page.items.last() {
                Some(last) if page.more => query.before = Some(last.id),
                _ => return Ok(all),
            }
        }
    }

    /// The calls at one of their checkpoints.
    pub fn at(&self, checkpoint: CheckpointId) -> WithinAt<'_, T, C, D, W, X> {
        WithinAt { within: self, checkpoint }
    }

    fn thread(&self) -> &Thread<T::Root, T::Context> {
        self.outer.thread()
    }

    fn graph(&self) -> &PersistentGraph<T::Root, T::Context> {
        &self.thread().graph
    }

    async fn read(&self, checkpoint: Option<CheckpointId>) -> Result<Loaded, Error> {
        let loaded = self.graph().0.store.get(&self.thread().name, &self.namespace, checkpoint).await;
        loaded.map_err(|error| self.graph().error(error))
    }

    async fn load(&self, checkpoint: Option<CheckpointId>) -> Result<Option<Snapshot<C>>, Error> {
        let Some(stored) = self.read(checkpoint).await?.found else { return Ok(None) };
        let state = match under(&stored.checkpoint) {
            Some(around) if W::HERE => {
                let state = self.outer.state_at(around.checkpoint).await?;
                let thread = self.thread().name.to_string();
                let gone = || ErrorKind::NoCheckpoint { thread, checkpoint: around.checkpoint };
                Some(state.ok_or_else(|| self.graph().refuse(gone()))?)
            }
            _ => None,
        };
        let graph = self.subgraph.graph();
        let base = state.as_ref().and_then(W::base);
        snapshot(&graph.0, &self.thread().name, &self.namespace, stored, base)
            .map(Some)
            .map_err(|kind| self.graph().refuse(kind))
    }
}

impl<T, C, D, W, X> Outer for Within<T, C, D, W, X>
where
    T: Outer,
    C: GraphState,
    D: Send + Sync + 'static,
    W: WiredTo<C, T::State>,
    X: Send + Sync,
{
    type State = C;
    type Root = T::Root;
    type Context = T::Context;

    fn thread(&self) -> &Thread<T::Root, T::Context> {
        self.outer.thread()
    }

    fn namespace(&self) -> &str {
        &self.namespace
    }

    async fn state_at(&self, checkpoint: CheckpointId) -> Result<Option<C>, Error> {
        // In a box: what is within may be within this in turn.
        let shown: std::pin::Pin<Box<dyn Future<Output = _> + Send + '_>> =
            Box::pin(self.load(Some(checkpoint)));
        Ok(shown.await?.and_then(|snapshot| snapshot.state))
    }
}

impl<T, C, D, W, X> WithinAt<'_, T, C, D, W, X>
where
    T: Outer,
    C: GraphState,
    D: Send + Sync + 'static,
    W: WiredTo<C, T::State>,
    X: Send + Sync,
{
    /// The call as it was then; `None` if there is no such checkpoint.
    ///
    /// # Errors
    /// As [`Within::state`].
    ///
    /// # Cancel safety
    /// It only reads.
    pub async fn state(&self) -> Result<Option<Snapshot<C>>, Error> {
        self.within.load(Some(self.checkpoint)).await
    }

    /// Runs the thread again from here, as a new branch of it: the superstep is run again in which the call was made, and the
    /// call goes on from this checkpoint. Its other tasks begin anew.
    pub fn run_again(&self) -> AgainOf<T::Root, T::Context> {
        let again = Again::within(Arc::clone(&self.within.namespace), self.checkpoint);
        self.within.thread().run_from(None, again)
    }
}

impl<T, C: GraphState, D, W: Wiring<C>, X> std::fmt::Debug for Within<T, C, D, W, X> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Within").field("namespace", &self.namespace).finish_non_exhaustive()
    }
}
