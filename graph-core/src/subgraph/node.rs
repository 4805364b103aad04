use std::borrow::Cow;
use std::marker::PhantomData;
use std::sync::Arc;

use crate::graph::Graph;
use crate::node::Payload;
use crate::state::GraphState;

use super::context::{ContextFrom, NoContext, SameContext};
use super::mapped::{Mapped, MappedPacket, Returned};
use super::wiring::{Here, Wiring};

/// A graph as a node of another; made by [`Graph::as_node`]. Its clones, and references to it, are the same node.
///
/// On a thread its runs are stored on that thread, in a namespace that is made of the names of the nodes, and are gone on
/// with when their task is: after an interrupt, a failure or a crash. What is kept from one call to the next is said here.
///
/// | | what is stored | what the next call begins with |
/// |---|---|---|
/// | (as it is) | the call | its state or input |
/// | [`per_thread`](Self::per_thread), [`keyed`](Self::keyed) | the call | what the last call has left, and its input |
/// | [`unstored`](Self::unstored) | nothing | its state or input |
///
/// Its questions are questions of the task that calls it, and its events those of the run, each with the names of the nodes
/// that it is within. It has the options of the run around it, each call so many supersteps as that one, unless it is given
/// a [limit](Self::recursion_limit) of its own.
pub struct Subgraph<C: GraphState, D = (), W: Wiring<C> = Here, X = SameContext> {
    pub(super) name: Cow<'static, str>,
    pub(crate) inner: Arc<Inner<C, D, W, X>>,
}

/// What a subgraph is made of.
pub struct Inner<C: GraphState, D, W: Wiring<C>, X> {
    pub(super) graph: Source<C, D>,
    pub(super) wiring: Arc<W>,
    pub(crate) context: Arc<X>,
    pub(super) keeping: Keeping,
    pub(super) key: Option<Arc<W::Key>>,
    pub(super) recursion_limit: Option<u64>,
}

/// Where the graph comes from.
pub(super) enum Source<C: GraphState, D> {
    Made(Graph<C, D>),
    Later(Arc<dyn Fn() -> Graph<C, D> + Send + Sync>),
}

/// What is kept of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keeping {
    Nothing,
    Call,
    Thread,
}

impl<C: GraphState, D> Source<C, D> {
    pub(super) fn graph(&self) -> Graph<C, D> {
        match self {
            Self::Made(graph) => graph.clone(),
            Self::Later(make) => make(),
        }
    }
}

impl<C: GraphState, D> Clone for Source<C, D> {
    fn clone(&self) -> Self {
        match self {
            Self::Made(graph) => Self::Made(graph.clone()),
            Self::Later(make) => Self::Later(Arc::clone(make)),
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
    /// This graph as a node of another one, under a name. It has to be the same context that both have, unless it is said
    /// [where it comes from](Subgraph::context_from).
    ///
    /// In a graph on the same state, or on one that this graph's is flattened into, it is ready to be put between edges: what
    /// its nodes write is its update, and an item that one of them appends is appended once. In all others it is
    /// [mapped](Subgraph::mapped) first.
    pub fn as_node(&self, name: impl Into<Cow<'static, str>>) -> Subgraph<C, D> {
        Subgraph::of(name.into(), Source::Made(self.clone()))
    }
}

impl<C: GraphState, D> Subgraph<C, D> {
    fn of(name: Cow<'static, str>, graph: Source<C, D>) -> Self {
        let inner = Inner {
            graph,
            wiring: Arc::new(Here),
            context: Arc::new(SameContext),
            keeping: Keeping::Call,
            key: None,
            recursion_limit: None,
        };
        Self { name, inner: Arc::new(inner) }
    }

    /// A graph that is asked for when it is called: one that calls itself.
    ///
    /// Graphs may call each other 32 levels deep; one that goes deeper fails.
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
        Self::of(name.into(), Source::Later(Arc::new(graph)))
    }

    /// Gives it a state of its own: `input` makes its input from the state around it, or from a part that is flattened into
    /// that; `output` makes what the node returns from what it has come to: an update, a route, or both.
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
        B: Fn(Returned<C>) -> O + Send + Sync + 'static,
        R: 'static,
        O: Send + 'static,
    {
        self.wired(Mapped { into: input, back: output, types: PhantomData })
    }

    /// The same for a node that is sent packets: it is called for each, with a state of its own.
    pub fn mapped_packet<R, P, I, B, O>(
        self,
        input: I,
        output: B,
    ) -> Subgraph<C, D, MappedPacket<R, P, I, B, O>>
    where
        P: Payload,
        I: Fn(&R, &P) -> C::Input + Send + Sync + 'static,
        B: Fn(Returned<C>) -> O + Send + Sync + 'static,
        R: 'static,
        O: Send + 'static,
    {
        self.wired(MappedPacket { into: input, back: output, types: PhantomData })
    }
}

impl<C: GraphState, D> Subgraph<C, D> {
    fn wired<V: Wiring<C>>(self, wiring: V) -> Subgraph<C, D, V> {
        let Inner { graph, context, keeping, recursion_limit, .. } = &*self.inner;
        let inner = Inner {
            graph: graph.clone(),
            wiring: Arc::new(wiring),
            context: Arc::clone(context),
            keeping: *keeping,
            key: None,
            recursion_limit: *recursion_limit,
        };
        Subgraph { name: self.name, inner: Arc::new(inner) }
    }
}

impl<C: GraphState, D, W: Wiring<C>, X> Subgraph<C, D, W, X> {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether its calls go on with what others have left, those with this kind of key.
    pub(crate) fn keeps_its_state(&self, by_key: bool) -> bool {
        self.inner.keeping == Keeping::Thread && self.inner.key.is_some() == by_key
    }

    /// The graph that it is.
    pub fn graph(&self) -> Graph<C, D> {
        self.inner.graph.graph()
    }

    /// Stores nothing of its runs: where the task that calls it runs again, in another process, it begins anew. What was
    /// answered is answered.
    pub fn unstored(self) -> Self {
        self.with(|inner| inner.keeping = Keeping::Nothing)
    }

    /// Lets each call have so many supersteps, in the place of as many as the run around it.
    pub fn recursion_limit(self, supersteps: u64) -> Self {
        self.with(|inner| inner.recursion_limit = Some(supersteps))
    }

    /// Puts a subgraph that has no context into a graph that has one.
    pub fn without_context(self) -> Subgraph<C, D, W, NoContext> {
        self.in_context(NoContext)
    }

    /// Makes its context from that of the graph around it: a `D`, or an `Arc<D>`.
    pub fn context_from<F>(self, context: F) -> Subgraph<C, D, W, ContextFrom<F>> {
        self.in_context(ContextFrom(context))
    }

    fn in_context<Y>(self, context: Y) -> Subgraph<C, D, W, Y> {
        let Inner { graph, wiring, keeping, key, recursion_limit, .. } = &*self.inner;
        let inner = Inner {
            graph: graph.clone(),
            wiring: Arc::clone(wiring),
            context: Arc::new(context),
            keeping: *keeping,
            key: key.clone(),
            recursion_limit: *recursion_limit,
        };
        Subgraph { name: self.name, inner: Arc::new(inner) }
    }

    fn with(self, change: impl FnOnce(&mut Inner<C, D, W, X>)) -> Self {
        let Inner { graph, wiring, context, keeping, key, recursion_limit } = &*self.inner;
        let mut inner = Inner {
            graph: graph.clone(),
            wiring: Arc::clone(wiring),
            context: Arc::clone(context),
            keeping: *keeping,
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
    /// Lets it keep its state on the thread: each call begins with what the one before it has left, and its input is written
    /// into that through the reducers. A run that goes on from an older checkpoint goes on with what was left then.
    ///
    /// In a run that is not on a thread, each call begins anew.
    pub fn per_thread(self) -> Self {
        self.with(|inner| inner.keeping = Keeping::Thread)
    }

    /// The same with several states on a thread, each with a key: one for each customer, say.
    pub fn keyed(self, key: impl Fn(&R) -> String + Send + Sync + 'static) -> Self {
        self.with(|inner| {
            inner.keeping = Keeping::Thread;
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
    /// Lets it keep states on the thread, each with a key that the packet says: see
    /// [`per_thread`](Subgraph::per_thread). Two packets of one superstep may not have the same key.
    pub fn keyed_by_packet(self, key: impl Fn(&R, &P) -> String + Send + Sync + 'static) -> Self {
        self.with(|inner| {
            inner.keeping = Keeping::Thread;
            inner.key = Some(Arc::new(key));
        })
    }
}
