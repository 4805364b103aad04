use std::any::TypeId;
use std::marker::PhantomData;

use crate::engine::ErasedNode;
use crate::erased::StateTypeOf as _;
use crate::error::{Error, NodeError};
use crate::node::{Decide, Decides, Shape, SingleNode};
use crate::state::GraphState;
use crate::step::{Exit, Leave, Named, NodeRef};

use super::draft::Draft;
use super::registration::Registration;
use super::{
    EdgeSource, EdgeTarget, Enters, Graph, JoinSources, Leaves, Listed, OneNode, Reads, Registers, Returns,
    WithoutPacket,
};

/// Builds a graph over the state `S`. Its nodes can read an application context of type `D`.
///
/// A function identifies its node: using the same function twice means the same node. An edge registers the nodes it
/// connects.
///
/// ```
/// # use superstep::{END, GraphState, START, StateGraph};
/// #[derive(GraphState, Clone)]
/// struct Count {
///     #[state(reducer = add)]
///     total: u32,
/// }
///
/// async fn one(_: &Count) -> CountUpdate {
///     Count::update().total(1)
/// }
///
/// async fn two(_: &Count) -> CountUpdate {
///     Count::update().total(2)
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> superstep::Result<()> {
/// let graph = StateGraph::<Count>::new().edge(START, one).edge(one, two).edge(two, END).compile()?;
/// assert_eq!(graph.run(Count::input()).await?.into_state().total, 3);
/// # Ok(())
/// # }
/// ```
#[must_use = "a graph does nothing until it is compiled"]
pub struct StateGraph<S, D = ()> {
    pub(super) draft: Draft,
    types: PhantomData<fn(S, D)>,
}

// The functions have the bound, not the block: so rustc says that the type is no state.
impl<S> StateGraph<S> {
    /// Creates an empty graph with the name of its state.
    #[expect(clippy::new_without_default, reason = "a graph without edges is nothing to default to")]
    pub fn new() -> Self
    where
        S: GraphState,
    {
        Self { draft: Draft::new(S::TYPE), types: PhantomData }
    }

    /// Creates an empty graph with an application context of type `D`, which nodes read as `&ContextWith<D>`.
    pub fn with_context<D: Send + Sync + 'static>() -> StateGraph<S, D>
    where
        S: GraphState,
    {
        StateGraph { draft: Draft::new(S::TYPE), types: PhantomData }
    }
}

impl<S: GraphState, D: Send + Sync + 'static> StateGraph<S, D> {
    /// Sets the graph's name. Errors, logs and the keys of cached results use it.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.draft.name = name.into();
        self
    }

    /// Adds a node that no edge mentions, such as one that is the destination of a route and returns a route itself.
    #[doc(alias = "add_node")]
    pub fn node<N, M>(mut self, node: N) -> Self
    where
        N: Shape<M>,
        N::Signature: Reads<S, D> + Returns<S> + OneNode<S, D, N::Body>,
    {
        <N::Signature as Registers<S, D, N::Body>>::register(node.into_body(), &mut self.draft);
        self
    }

    /// Adds an edge: `to` runs after `from`. If `to` is a tuple, all its nodes run. Several calls for one node have the
    /// same effect.
    ///
    /// A node with several incoming edges runs once in each superstep that follows the end of at least one of its
    /// sources. Use [`join`](Self::join) to wait for all of several nodes.
    #[doc(alias = "add_edge")]
    #[doc(alias = "set_entry_point")]
    #[doc(alias = "set_finish_point")]
    pub fn edge<A, MA, B, MB>(mut self, from: A, to: B) -> Self
    where
        A: Shape<MA>,
        B: Shape<MB>,
        A::Signature: Reads<S, D> + Returns<S> + EdgeSource<S, D, A::Body>,
        B::Signature: Reads<S, D> + WithoutPacket<S> + Returns<S> + EdgeTarget<S, D, B::Body>,
    {
        let from = <A::Signature as Leaves<S, D, A::Body>>::leave(from.into_body(), &mut self.draft);
        let mut targets = Vec::new();
        <B::Signature as Enters<S, D, B::Body>>::enter(to.into_body(), &mut self.draft, &mut targets);
        self.draft.connect(&from, targets);
        self
    }

    /// Adds a join: `to` runs when all nodes of the tuple `from` have finished since the join last filled.
    ///
    /// A run that has nothing left to do while a join still waits for some of its sources fails with
    /// [`JoinNotFilled`](crate::ErrorKind::JoinNotFilled). Use [`join_optional`](Self::join_optional) if a source may
    /// be skipped.
    pub fn join<A, MA, B, MB>(self, from: A, to: B) -> Self
    where
        A: Shape<MA>,
        B: Shape<MB>,
        A::Signature: Reads<S, D> + Returns<S> + JoinSources<S, D, A::Body>,
        B::Signature: Reads<S, D> + WithoutPacket<S> + Returns<S> + EdgeTarget<S, D, B::Body>,
    {
        self.add_join::<A, MA, B, MB>(from, to, false)
    }

    /// Like [`join`](Self::join), but the run may finish while the join still waits.
    pub fn join_optional<A, MA, B, MB>(self, from: A, to: B) -> Self
    where
        A: Shape<MA>,
        B: Shape<MB>,
        A::Signature: Reads<S, D> + Returns<S> + JoinSources<S, D, A::Body>,
        B::Signature: Reads<S, D> + WithoutPacket<S> + Returns<S> + EdgeTarget<S, D, B::Body>,
    {
        self.add_join::<A, MA, B, MB>(from, to, true)
    }

    fn add_join<A, MA, B, MB>(mut self, from: A, to: B, optional: bool) -> Self
    where
        A: Shape<MA>,
        B: Shape<MB>,
        A::Signature: Reads<S, D> + Returns<S> + JoinSources<S, D, A::Body>,
        B::Signature: Reads<S, D> + WithoutPacket<S> + Returns<S> + EdgeTarget<S, D, B::Body>,
    {
        let (mut sources, mut targets) = (Vec::new(), Vec::new());
        <A::Signature as Listed<S, D, A::Body>>::list(from.into_body(), &mut self.draft, &mut sources);
        <B::Signature as Enters<S, D, B::Body>>::enter(to.into_body(), &mut self.draft, &mut targets);
        self.draft.join(sources, targets, optional);
        self
    }

    /// Adds a conditional edge: the function `decide` chooses the nodes that run after `from`.
    ///
    /// The function reads the state as it was before the superstep, with only the update of `from` applied. It has to
    /// be pure, because it may run more than once. Every node that its route names has to be in the graph: see
    /// [`node`](Self::node).
    #[doc(alias = "add_conditional_edges")]
    pub fn route<A, MA, F, MF>(mut self, from: A, decide: F) -> Self
    where
        A: Shape<MA>,
        A::Signature: Reads<S, D> + Returns<S> + EdgeSource<S, D, A::Body>,
        F: Decide<MF>,
        F::Signature: Decides<S, D, F>,
    {
        let from = <A::Signature as Leaves<S, D, A::Body>>::leave(from.into_body(), &mut self.draft);
        let exits = <F::Signature as Decides<S, D, F>>::exits();
        self.draft.routes.push((from, exits, <F::Signature as Decides<S, D, F>>::erase(decide)));
        self
    }

    /// Adds a node with this signature.
    pub(crate) fn register<G: Registers<S, D, B>, B>(&mut self, body: B) {
        G::register(body, &mut self.draft);
    }

    /// Makes this node the only one of the graph, between START and END.
    pub(crate) fn alone(mut self, node: NodeRef, run: Box<dyn ErasedNode>, value: TypeId) -> Self {
        self.draft.register(Registration::alone(node.clone(), run, value));
        self.draft.edges.extend([(NodeRef::Start, node.clone()), (node, NodeRef::End)]);
        self
    }

    /// Adds another name for this node.
    pub(crate) fn alias_of(mut self, node: NodeRef, alias: String) -> Self {
        self.draft.aliases.push((node, alias));
        self
    }

    /// Lets a run begin at any node; `decide` chooses it.
    pub(crate) fn anywhere(
        mut self,
        exits: Vec<Exit>,
        decide: impl Fn(&S) -> Result<Leave, NodeError> + Send + Sync + 'static,
    ) -> Self {
        self.draft.routes.push((
            NodeRef::Start,
            exits,
            Box::new(move |from| decide(from.typed::<S, D>()?.state)),
        ));
        self.draft.anywhere = true;
        self
    }

    /// Defers a node: it runs only in a superstep in which no other node is planned.
    pub fn defer<N, M>(mut self, node: N) -> Self
    where
        N: Shape<M>,
        N::Body: SingleNode,
    {
        self.draft.deferred.push(node.into_body().node_ref());
        self
    }

    /// Sets a breakpoint before a node: every run pauses before a superstep in which the node would run. The run ends
    /// with [`Outcome::Interrupted`](crate::Outcome::Interrupted), and
    /// [`Pause::before`](crate::interrupt::Pause::before) names the node.
    ///
    /// ```
    /// # use superstep::{END, GraphState, START, StateGraph};
    /// # #[derive(GraphState, Clone)]
    /// # struct Order { paid: bool, sent: bool }
    /// async fn pay(_: &Order) -> OrderUpdate {
    ///     Order::update().paid(true)
    /// }
    ///
    /// async fn send(_: &Order) -> OrderUpdate {
    ///     Order::update().sent(true)
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> superstep::Result<()> {
    /// let graph = StateGraph::<Order>::new()
    ///     .edge(START, pay)
    ///     .edge(pay, send)
    ///     .edge(send, END)
    ///     .interrupt_before(send)
    ///     .compile()?;
    /// let mut run = graph.run(Order::input()).start()?;
    /// while run.step().await? {}
    /// assert_eq!(run.pause().expect("a breakpoint").before(), ["send"]);
    /// assert!(run.state().paid && !run.state().sent);
    ///
    /// assert!(run.finish().await?.into_state().sent);
    /// # Ok(())
    /// # }
    /// ```
    pub fn interrupt_before<N, M>(mut self, node: N) -> Self
    where
        N: Shape<M>,
        N::Body: SingleNode,
    {
        self.draft.breakpoints.before.push(node.into_body().node_ref());
        self
    }

    /// Sets a breakpoint after a node: every run pauses after a superstep in which the node has run, unless the run is
    /// finished.
    pub fn interrupt_after<N, M>(mut self, node: N) -> Self
    where
        N: Shape<M>,
        N::Body: SingleNode,
    {
        self.draft.breakpoints.after.push(node.into_body().node_ref());
        self
    }

    /// Adds an earlier name of a node, so that checkpoints stored under that name still find it.
    pub fn alias<N, M>(self, node: N, alias: impl Into<String>) -> Self
    where
        N: Shape<M>,
        N::Body: SingleNode,
    {
        self.alias_of(node.into_body().node_ref(), alias.into())
    }

    /// Checks the wiring and builds the graph.
    ///
    /// # Errors
    /// [`Wiring`](crate::ErrorKind::Wiring) with *all* mistakes, such as:
    /// - nodes that cannot be reached or have no way out
    /// - nodes with both an edge and a route
    /// - joins that can never fill
    pub fn compile(self) -> Result<Graph<S, D>, Error> {
        let mut draft = self.draft;
        draft.check_state::<S>();
        draft.compile().map(Graph::new)
    }
}

impl<N> Named<N> {
    /// Returns the node's name.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl From<&'static str> for NodeRef {
    /// Refers to the node with this name.
    fn from(name: &'static str) -> Self {
        Self::Named(name.into())
    }
}
