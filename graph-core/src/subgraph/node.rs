use std::borrow::Cow;
use std::marker::PhantomData;
use std::sync::Arc;

use crate::engine::CallStorage;
use crate::erased::Payload;
use crate::graph::Graph;
use crate::state::GraphState;

use super::context::{ContextFrom, NoContext, SameContext};
use super::mapped::{CallResult, Mapped, MappedPacket};
use super::wiring::{Here, Wiring};

/// A graph as a node of another graph. Made by [`Graph::as_node`]. Clones of it, and references to it, are the same
/// node.
///
/// On a thread, each call is stored in a namespace of that thread, which consists of the names of the nodes. A call
/// that was interrupted, failed or was cut off by a crash resumes with the task that made it. These methods decide
/// about the state between calls:
///
/// | | stored | the next call begins with |
/// |---|---|---|
/// | (default) | the call | the parent state, or its mapped input |
/// | [`per_thread`](Self::per_thread), [`keyed`](Self::keyed) | the call | the state that the last call left, with its input applied |
/// | [`unstored`](Self::unstored) | nothing | the parent state, or its mapped input |
///
/// Interrupts inside the subgraph are interrupts of the task that calls it. Its events are events of the run, with the
/// path of subgraph nodes.
///
/// A call has the options of its parent run. Each call may take as many supersteps as that run, unless the subgraph has
/// its own [limit](Self::recursion_limit).
pub struct Subgraph<C: GraphState, D = (), W: Wiring<C> = Here, X = SameContext> {
    pub(super) name: Cow<'static, str>,
    pub(crate) inner: Arc<Inner<C, D, W, X>>,
}

/// The parts of a [`Subgraph`].
pub struct Inner<C: GraphState, D, W: Wiring<C>, X> {
    pub(super) graph: GraphSource<C, D>,
    pub(super) wiring: Arc<W>,
    pub(crate) context: Arc<X>,
    pub(super) persistence: Persistence,
    pub(super) key: Option<Arc<W::Key>>,
    pub(super) recursion_limit: Option<u64>,
}

/// The graph, or the function that makes it.
pub(super) enum GraphSource<C: GraphState, D> {
    Built(Graph<C, D>),
    Lazy(Arc<dyn Fn() -> Graph<C, D> + Send + Sync>),
}

/// The storage of the calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Persistence {
    Unstored,
    PerCall,
    PerThread,
}

impl Persistence {
    pub(super) fn storage(self, key: Option<String>) -> CallStorage {
        match self {
            Self::Unstored => CallStorage::Nothing,
            Self::PerCall => CallStorage::Call,
            Self::PerThread => CallStorage::Thread(key),
        }
    }
}

impl<C: GraphState, D> GraphSource<C, D> {
    pub(super) fn graph(&self) -> Graph<C, D> {
        match self {
            Self::Built(graph) => graph.clone(),
            Self::Lazy(make) => make(),
        }
    }
}

impl<C: GraphState, D> Clone for GraphSource<C, D> {
    fn clone(&self) -> Self {
        match self {
            Self::Built(graph) => Self::Built(graph.clone()),
            Self::Lazy(make) => Self::Lazy(Arc::clone(make)),
        }
    }
}

impl<C: GraphState, D, W: Wiring<C>, X> Clone for Subgraph<C, D, W, X> {
    fn clone(&self) -> Self {
        Self { name: self.name.clone(), inner: Arc::clone(&self.inner) }
    }
}

impl<C: GraphState, D, W: Wiring<C>, X> std::fmt::Debug for Subgraph<C, D, W, X> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Subgraph").field(&self.name).finish()
    }
}

impl<C: GraphState, D: Send + Sync + 'static> Graph<C, D> {
    /// Returns this graph as a node with the given name, for use in a parent graph.
    ///
    /// The parent graph needs the same context type, unless [`context_from`](Subgraph::context_from) or
    /// [`without_context`](Subgraph::without_context) says otherwise.
    ///
    /// A parent graph on the same state, or on a state that this graph's state is flattened into, needs no mapping: the
    /// writes of the subgraph are the node's update. An item that a node inside appends is appended once. For other
    /// parent states, call [`mapped`](Subgraph::mapped).
    pub fn as_node(&self, name: impl Into<Cow<'static, str>>) -> Subgraph<C, D> {
        Subgraph::of(name.into(), GraphSource::Built(self.clone()))
    }
}

impl<C: GraphState, D> Subgraph<C, D> {
    fn of(name: Cow<'static, str>, graph: GraphSource<C, D>) -> Self {
        let inner = Inner {
            graph,
            wiring: Arc::new(Here),
            context: Arc::new(SameContext),
            persistence: Persistence::PerCall,
            key: None,
            recursion_limit: None,
        };
        Self { name, inner: Arc::new(inner) }
    }

    /// Creates a subgraph whose graph is made at each call, so that a graph can call itself.
    ///
    /// Subgraph calls can be nested 32 levels deep; a deeper call fails.
    ///
    /// ```
    /// use superstep::subgraph::Subgraph;
    /// use superstep::{END, Graph, GraphState, START, StateGraph};
    ///
    /// #[derive(GraphState, Clone)]
    /// struct Tower {
    ///     #[state(input)]
    ///     height: u32,
    ///     #[state(reducer = append)]
    ///     floors: Vec<u32>,
    /// }
    ///
    /// async fn build(tower: &Tower) -> TowerUpdate {
    ///     Tower::update().height(tower.height - 1).floors([tower.height])
    /// }
    ///
    /// #[derive(superstep::Route)]
    /// enum Next {
    ///     #[to("above")]
    ///     Above,
    ///     #[to(END)]
    ///     Top,
    /// }
    ///
    /// async fn look(tower: &Tower) -> Next {
    ///     if tower.height > 0 { Next::Above } else { Next::Top }
    /// }
    ///
    /// fn tower() -> Graph<Tower> {
    ///     let above = Subgraph::lazy("above", tower);
    ///     let graph = StateGraph::<Tower>::new().edge(START, build).edge(build, look).edge(&above, END);
    ///     graph.compile().expect("it is wired")
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> superstep::Result<()> {
    /// assert_eq!(tower().run(Tower::input(3_u32)).await?.into_state().floors, [3, 2, 1]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn lazy(
        name: impl Into<Cow<'static, str>>,
        graph: impl Fn() -> Graph<C, D> + Send + Sync + 'static,
    ) -> Self {
        Self::of(name.into(), GraphSource::Lazy(Arc::new(graph)))
    }

    /// Gives the subgraph a state of its own.
    ///
    /// - `input` makes its input from the parent state, or from a state that is flattened into the parent state.
    /// - `output` makes the node's result from the final state: an update, a route, or both.
    ///
    /// ```
    /// use superstep::{END, GraphState, START, StateGraph};
    ///
    /// #[derive(GraphState, Clone)]
    /// struct Translation {
    ///     #[state(input)]
    ///     text: String,
    ///     german: String,
    /// }
    ///
    /// async fn translate(translation: &Translation) -> TranslationUpdate {
    ///     Translation::update().german(translation.text.replace("hello", "hallo"))
    /// }
    ///
    /// #[derive(GraphState, Clone)]
    /// struct Letter {
    ///     #[state(input)]
    ///     body: String,
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> superstep::Result<()> {
    /// let translation = StateGraph::<Translation>::new().edge(START, translate).edge(translate, END).compile()?;
    /// let translate = translation.as_node("translate").mapped(
    ///     |letter: &Letter| Translation::input(letter.body.clone()),
    ///     |done| Letter::update().body(done.state.german),
    /// );
    /// let graph = StateGraph::<Letter>::new().edge(START, &translate).edge(&translate, END).compile()?;
    /// assert_eq!(graph.run(Letter::input("hello")).await?.into_state().body, "hallo");
    /// # Ok(())
    /// # }
    /// ```
    pub fn mapped<R, I, B, O>(self, input: I, output: B) -> Subgraph<C, D, Mapped<R, I, B, O>>
    where
        I: Fn(&R) -> C::Input + Send + Sync + 'static,
        B: Fn(CallResult<C>) -> O + Send + Sync + 'static,
        R: 'static,
        O: Send + 'static,
    {
        self.wired(Mapped { into: input, back: output, types: PhantomData })
    }

    /// Gives the subgraph a state of its own, and calls it once for each packet that is sent to the node. See
    /// [`mapped`](Self::mapped).
    pub fn mapped_packet<R, P, I, B, O>(
        self,
        input: I,
        output: B,
    ) -> Subgraph<C, D, MappedPacket<R, P, I, B, O>>
    where
        P: Payload,
        I: Fn(&R, &P) -> C::Input + Send + Sync + 'static,
        B: Fn(CallResult<C>) -> O + Send + Sync + 'static,
        R: 'static,
        O: Send + 'static,
    {
        self.wired(MappedPacket { into: input, back: output, types: PhantomData })
    }
}

impl<C: GraphState, D> Subgraph<C, D> {
    fn wired<V: Wiring<C>>(self, wiring: V) -> Subgraph<C, D, V> {
        let Inner { graph, context, persistence, recursion_limit, .. } = &*self.inner;
        let inner = Inner {
            graph: graph.clone(),
            wiring: Arc::new(wiring),
            context: Arc::clone(context),
            persistence: *persistence,
            key: None,
            recursion_limit: *recursion_limit,
        };
        Subgraph { name: self.name, inner: Arc::new(inner) }
    }
}

impl<C: GraphState, D, W: Wiring<C>, X> Subgraph<C, D, W, X> {
    /// Returns the node's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns `true` if calls continue with the state of earlier calls: with a key if `keyed`, otherwise without one.
    pub(crate) fn is_per_thread(&self, keyed: bool) -> bool {
        self.inner.persistence == Persistence::PerThread && self.inner.key.is_some() == keyed
    }

    /// Returns the graph; a [`lazy`](Subgraph::lazy) one is made anew.
    pub fn graph(&self) -> Graph<C, D> {
        self.inner.graph.graph()
    }

    /// Stores nothing of the calls. If the task that calls the subgraph runs again in another process, the call starts
    /// anew. Answers that were given are kept. No subgraph inside can keep its state, see
    /// [`per_thread`](Subgraph::per_thread).
    pub fn unstored(self) -> Self {
        self.with(|inner| inner.persistence = Persistence::Unstored)
    }

    /// Limits each call to this number of supersteps, in place of the limit of the parent run.
    pub fn recursion_limit(self, supersteps: u64) -> Self {
        self.with(|inner| inner.recursion_limit = Some(supersteps))
    }

    /// Allows a subgraph without a context in a graph that has one.
    pub fn without_context(self) -> Subgraph<C, D, W, NoContext> {
        self.in_context(NoContext)
    }

    /// Makes the subgraph's context from the parent graph's context with a function that returns a `D` or an `Arc<D>`.
    pub fn context_from<F>(self, context: F) -> Subgraph<C, D, W, ContextFrom<F>> {
        self.in_context(ContextFrom(context))
    }

    fn in_context<Y>(self, context: Y) -> Subgraph<C, D, W, Y> {
        let Inner { graph, wiring, persistence, key, recursion_limit, .. } = &*self.inner;
        let inner = Inner {
            graph: graph.clone(),
            wiring: Arc::clone(wiring),
            context: Arc::new(context),
            persistence: *persistence,
            key: key.clone(),
            recursion_limit: *recursion_limit,
        };
        Subgraph { name: self.name, inner: Arc::new(inner) }
    }

    fn with(self, change: impl FnOnce(&mut Inner<C, D, W, X>)) -> Self {
        let Inner { graph, wiring, context, persistence, key, recursion_limit } = &*self.inner;
        let mut inner = Inner {
            graph: graph.clone(),
            wiring: Arc::clone(wiring),
            context: Arc::clone(context),
            persistence: *persistence,
            key: key.clone(),
            recursion_limit: *recursion_limit,
        };
        change(&mut inner);
        Self { name: self.name, inner: Arc::new(inner) }
    }
}

impl<C, D, R, I, B, O, X> Subgraph<C, D, Mapped<R, I, B, O>, X>
where
    C: GraphState,
    R: 'static,
    Mapped<R, I, B, O>: Wiring<C, Key = dyn Fn(&R) -> String + Send + Sync>,
{
    /// Keeps the subgraph's state on the thread: each call begins with the state that the call before it left, and
    /// applies its input to that state through the reducers. A run that continues from an older checkpoint uses the
    /// state as it was then.
    ///
    /// This holds at any depth, also inside a subgraph whose own calls begin anew. It is impossible inside an
    /// [unstored](Subgraph::unstored) subgraph, and inside one that is called for each packet without a key: `compile()`
    /// of the parent graph fails. Inside a [lazy](Subgraph::lazy) one, the call fails.
    ///
    /// Without a thread, each call begins anew.
    pub fn per_thread(self) -> Self {
        self.with(|inner| inner.persistence = Persistence::PerThread)
    }

    /// Keeps several states on the thread, one for each key, such as a customer. See
    /// [`per_thread`](Subgraph::per_thread).
    pub fn keyed(self, key: impl Fn(&R) -> String + Send + Sync + 'static) -> Self {
        self.with(|inner| {
            inner.persistence = Persistence::PerThread;
            inner.key = Some(Arc::new(key));
        })
    }
}

impl<C, D, R, P, I, B, O, X> Subgraph<C, D, MappedPacket<R, P, I, B, O>, X>
where
    C: GraphState,
    R: 'static,
    P: 'static,
    MappedPacket<R, P, I, B, O>: Wiring<C, Key = dyn Fn(&R, &P) -> String + Send + Sync>,
{
    /// Keeps several states on the thread, one for each key, which is made from the packet. See
    /// [`per_thread`](Subgraph::per_thread). Two packets of one superstep cannot have the same key.
    pub fn keyed_by_packet(self, key: impl Fn(&R, &P) -> String + Send + Sync + 'static) -> Self {
        self.with(|inner| {
            inner.persistence = Persistence::PerThread;
            inner.key = Some(Arc::new(key));
        })
    }
}
