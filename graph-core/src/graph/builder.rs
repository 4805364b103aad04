use std::any::TypeId;
use std::marker::PhantomData;

use crate::error::Error;
use crate::node::{Body, Decide, Decides, ErasedNode, Exit, Leave, Named, NodeError, NodeRef, Shape};
use crate::state::GraphState;

use super::draft::{Draft, DraftJoin};
use super::place::Registration;
use super::{Enters, Graph, Leaves, Listed, Reads, Registers, Returns, WithoutPacket};

/// Puts a graph over the state `S` together; nodes may ask for a context of type `D`.
///
/// The function itself is the node's identity, and an edge registers the nodes that it names:
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
pub struct StateGraph<S, D = ()> {
    pub(super) draft: Draft<S, D>,
    context: PhantomData<fn(D)>,
}

impl<S: GraphState> StateGraph<S> {
    /// An empty graph, named like its state.
    #[expect(clippy::new_without_default, reason = "a graph without edges is nothing to default to")]
    pub fn new() -> Self {
        Self { draft: Draft::new(S::NAME), context: PhantomData }
    }

    /// An empty graph whose runs are given a context of type `D`, which nodes read as `&ContextWith<D>`.
    pub fn with_context<D: Send + Sync + 'static>() -> StateGraph<S, D> {
        StateGraph { draft: Draft::new(S::NAME), context: PhantomData }
    }
}

impl<S: GraphState, D: Send + Sync + 'static> StateGraph<S, D> {
    /// Names the graph, for errors and logs.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.draft.name = name.into();
        self
    }

    /// Adds a node that no edge names: one that a route leads to and that returns a route itself.
    pub fn node<N, M>(mut self, node: N) -> Self
    where
        N: Shape<M>,
        N::Signature: Reads<S, D> + Returns<S> + Registers<S, D, N::Body>,
    {
        <N::Signature as Registers<S, D, N::Body>>::register(node.into_body(), &mut self.draft);
        self
    }

    /// Leads from `from` to `to`. `to` may be a tuple, then all of them follow; several edges from one node mean the
    /// same.
    ///
    /// A node to which several edges lead runs once for each superstep in which any of them fires; to wait for all of
    /// several nodes use [`join`](Self::join).
    pub fn edge<A, MA, B, MB>(mut self, from: A, to: B) -> Self
    where
        A: Shape<MA>,
        B: Shape<MB>,
        A::Signature: Reads<S, D> + Returns<S> + Leaves<S, D, A::Body>,
        B::Signature: Reads<S, D> + WithoutPacket<S> + Returns<S> + Enters<S, D, B::Body>,
    {
        let from = <A::Signature as Leaves<S, D, A::Body>>::leave(from.into_body(), &mut self.draft);
        let mut targets = Vec::new();
        <B::Signature as Enters<S, D, B::Body>>::enter(to.into_body(), &mut self.draft, &mut targets);
        for to in targets {
            let edge = (from.clone(), to);
            if self.draft.drawn.insert(edge.clone()) {
                self.draft.edges.push(edge);
            }
        }
        self
    }

    /// Plans `to` once all of `from`, a tuple of nodes, have finished since it was last planned so.
    ///
    /// A run that comes to rest while a join waits for some of its sources fails with
    /// [`JoinNotFilled`](crate::ErrorKind::JoinNotFilled); see [`join_optional`](Self::join_optional).
    pub fn join<A, MA, B, MB>(self, from: A, to: B) -> Self
    where
        A: Shape<MA>,
        B: Shape<MB>,
        A::Signature: Reads<S, D> + Returns<S> + Listed<S, D, A::Body>,
        B::Signature: Reads<S, D> + WithoutPacket<S> + Returns<S> + Enters<S, D, B::Body>,
    {
        self.add_join::<A, MA, B, MB>(from, to, false)
    }

    /// Like [`join`](Self::join), but the run may end while it waits.
    pub fn join_optional<A, MA, B, MB>(self, from: A, to: B) -> Self
    where
        A: Shape<MA>,
        B: Shape<MB>,
        A::Signature: Reads<S, D> + Returns<S> + Listed<S, D, A::Body>,
        B::Signature: Reads<S, D> + WithoutPacket<S> + Returns<S> + Enters<S, D, B::Body>,
    {
        self.add_join::<A, MA, B, MB>(from, to, true)
    }

    fn add_join<A, MA, B, MB>(mut self, from: A, to: B, optional: bool) -> Self
    where
        A: Shape<MA>,
        B: Shape<MB>,
        A::Signature: Reads<S, D> + Returns<S> + Listed<S, D, A::Body>,
        B::Signature: Reads<S, D> + WithoutPacket<S> + Returns<S> + Enters<S, D, B::Body>,
    {
        let (mut sources, mut targets) = (Vec::new(), Vec::new());
        <A::Signature as Listed<S, D, A::Body>>::list(from.into_body(), &mut self.draft, &mut sources);
        <B::Signature as Enters<S, D, B::Body>>::enter(to.into_body(), &mut self.draft, &mut targets);
        self.draft.joins.push(DraftJoin { sources, targets, optional });
        self
    }

    /// Lets a function decide where to go after `from`.
    ///
    /// The function reads the state with `from`'s own update applied to it, and nobody else's. It is pure: it may run
    /// again. The nodes that its route names have to be in the graph: see [`node`](Self::node).
    pub fn route<A, MA, F, MF>(mut self, from: A, decide: F) -> Self
    where
        A: Shape<MA>,
        A::Signature: Reads<S, D> + Returns<S> + Leaves<S, D, A::Body>,
        F: Decide<MF>,
        F::Signature: Decides<S, D, F>,
    {
        let from = <A::Signature as Leaves<S, D, A::Body>>::leave(from.into_body(), &mut self.draft);
        let exits = <F::Signature as Decides<S, D, F>>::exits();
        self.draft.routes.push((from, exits, <F::Signature as Decides<S, D, F>>::erase(decide)));
        self
    }

    /// Adds a node of this signature.
    pub(crate) fn register<G: Registers<S, D, B>, B>(&mut self, body: B) {
        G::register(body, &mut self.draft);
    }

    /// Makes one node all of the graph.
    pub(crate) fn alone(mut self, node: NodeRef, run: Box<dyn ErasedNode<S, D>>, value: TypeId) -> Self {
        self.draft.register(Registration::alone(node.clone(), run, value));
        self.draft.edges.extend([(NodeRef::Start, node.clone()), (node, NodeRef::End)]);
        self
    }

    /// Another name for this node.
    pub(crate) fn alias_of(mut self, node: NodeRef, alias: String) -> Self {
        self.draft.aliases.push((node, alias));
        self
    }

    /// Lets a run begin at any node, and `decide` say at which.
    pub(crate) fn anywhere(
        mut self,
        exits: Vec<Exit>,
        decide: impl Fn(&S) -> Result<Leave, NodeError> + Send + Sync + 'static,
    ) -> Self {
        self.draft.routes.push((NodeRef::Start, exits, Box::new(move |from| decide(from.state))));
        self.draft.anywhere = true;
        self
    }

    /// Lets a node run only in a superstep in which nothing else is planned.
    pub fn defer<N, M, F>(mut self, node: N) -> Self
    where
        N: Shape<M, Body = Body<F>>,
    {
        self.draft.deferred.push(node.into_body().node);
        self
    }

    /// Lets every run stop before a superstep in which this node would run; the run ends with
    /// [`Outcome::Interrupted`](crate::Outcome::Interrupted), and its [`Pause`](crate::interrupt::Pause) says before which.
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
    pub fn interrupt_before<N, M, F>(mut self, node: N) -> Self
    where
        N: Shape<M, Body = Body<F>>,
    {
        self.draft.breakpoints.before.push(node.into_body().node);
        self
    }

    /// Lets every run stop after a superstep in which this node has run, unless nothing follows it.
    pub fn interrupt_after<N, M, F>(mut self, node: N) -> Self
    where
        N: Shape<M, Body = Body<F>>,
    {
        self.draft.breakpoints.after.push(node.into_body().node);
        self
    }

    /// Another name for a node: one that it had before, so that what was stored under it is found.
    pub fn alias<N, M, F>(self, node: N, alias: impl Into<String>) -> Self
    where
        N: Shape<M, Body = Body<F>>,
    {
        self.alias_of(node.into_body().node, alias.into())
    }

    /// Checks the wiring and makes the graph.
    ///
    /// # Errors
    /// [`Wiring`](crate::ErrorKind::Wiring) with *every* mistake: nodes that nothing leads to or that lead nowhere,
    /// joins that can never fill, names used twice, routes to nodes that are not there, nodes with both an edge and a
    /// route.
    pub fn compile(self) -> Result<Graph<S, D>, Error> {
        self.draft.compile()
    }
}

impl<N> Named<N> {
    /// The name that was given.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl From<&'static str> for NodeRef {
    /// The node that was given this name.
    fn from(name: &'static str) -> Self {
        Self::Named(name.into())
    }
}
