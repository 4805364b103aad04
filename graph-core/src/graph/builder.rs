use std::any::TypeId;
use std::marker::PhantomData;

use crate::cache::Cached;
use crate::engine::FailureMode;
use crate::error::Error;
use crate::node::{
    Body, Decide, Decides, ErasedNode, Exit, KeyBy, KeyFor, KeyReads, KeyReturns, Leave, Named, NodeError,
    NodeRef, Shape,
};
use crate::policy::Policy;
use crate::state::GraphState;

use super::caching::DraftCache;
use super::draft::{Draft, DraftJoin};
use super::place::Registration;
use super::{Enters, Graph, HandlerReads, Handles, Leaves, Listed, Reads, Registers, Returns, WithoutPacket};

/// Puts a graph over the state `S` together; nodes may ask for a context of type `D`.
///
/// The function itself is the node's identity, and an edge registers the nodes that it names:
///
/// ```
/// # use graph_core::{END, GraphState, START, StateGraph};
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
/// # async fn main() -> graph_core::Result<()> {
/// let graph = StateGraph::<Count>::new().edge(START, one).edge(one, two).edge(two, END).compile()?;
/// assert_eq!(graph.run(Count::input()).await?.into_state().total, 3);
/// # Ok(())
/// # }
/// ```
pub struct StateGraph<S, D = ()> {
    draft: Draft<S, D>,
    context: PhantomData<fn(D)>,
}

impl<S: GraphState> StateGraph<S> {
    /// An empty graph, named like its state.
    #[expect(clippy::new_without_default, reason = "a graph without edges is nothing to default to")]
    pub fn new() -> Self {
        Self { draft: Draft::new(S::NAME), context: PhantomData }
    }

    /// An empty graph whose runs are given a context of type `D`, which nodes read as `&Ctx<D>`.
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
    /// # use graph_core::{END, GraphState, START, StateGraph};
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
    /// # async fn main() -> graph_core::Result<()> {
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

    /// Says how often a node is tried and how long an attempt of it may take. What the policy does not say is as in the
    /// [default policy](Self::default_policy).
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use graph_core::{END, GraphState, START, StateGraph};
    /// # use graph_core::policy::{Policy, Retry};
    /// # #[derive(GraphState, Clone)]
    /// # struct Page { text: String }
    /// # async fn fetch(_: &Page) -> graph_core::Result<PageUpdate> { Ok(Page::update()) }
    /// let graph = StateGraph::<Page>::new()
    ///     .edge(START, fetch)
    ///     .edge(fetch, END)
    ///     .policy(fetch, Policy::new().retry(Retry::attempts(3).jitter()).timeout(Duration::from_secs(10)))
    ///     .compile()?;
    /// # Ok::<(), graph_core::Error>(())
    /// ```
    pub fn policy<N, M, F>(mut self, node: N, policy: Policy) -> Self
    where
        N: Shape<M, Body = Body<F>>,
    {
        self.draft.policies.of_nodes.push((node.into_body().node, policy));
        self
    }

    /// The policy of all nodes, as far as a node's own does not say otherwise.
    pub fn default_policy(mut self, policy: Policy) -> Self {
        self.draft.policies.default = policy;
        self
    }

    /// Lets what a node has returned once stand for running it again, wherever its key is the same: in this run and in others,
    /// on this thread and on others. The graph has to be given a [cache](crate::Graph::with_cache). See
    /// [`cache`](crate::cache).
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use graph_core::{END, GraphState, START, StateGraph};
    /// # use graph_core::cache::Cached;
    /// # #[derive(GraphState, Clone)]
    /// # struct Page { url: String, text: String }
    /// # async fn fetch(_: &Page) -> PageUpdate { Page::update() }
    /// let graph = StateGraph::<Page>::new()
    ///     .edge(START, fetch)
    ///     .edge(fetch, END)
    ///     .cache(fetch, Cached::by(|page: &Page| page.url.clone()).ttl(Duration::from_secs(3600)))
    ///     .compile()?;
    /// # Ok::<(), graph_core::Error>(())
    /// ```
    ///
    /// What is kept is what the node has returned, its update and its route, once it has been applied: no failure, nothing that
    /// an [error handler](Self::on_error) returns, nothing that the state has refused, and no result that hangs on an
    /// [answer](crate::Cx::interrupt). On a hit the node does not run, and its policy has nothing to do.
    pub fn cache<N, M, F, K, MK>(mut self, node: N, cached: Cached<K>) -> Self
    where
        N: Shape<M, Body = Body<F>>,
        K: KeyBy<MK>,
        K::Signature: KeyReads<S, D> + KeyReturns + KeyFor<S, D, K>,
    {
        let packet = <K::Signature as KeyFor<S, D, K>>::packet();
        let key = <K::Signature as KeyFor<S, D, K>>::erase(cached.key);
        let cache = DraftCache { key, packet, ttl: cached.ttl };
        self.draft.policies.caches.push((node.into_body().node, cache));
        self
    }

    /// Lets a function take the place of a node that has failed, once its [policy](Self::policy) has nothing left to try.
    ///
    /// It is written like a node, and reads the [`NodeFailure`](crate::NodeFailure) besides. What it returns is the result of
    /// the task: its update is applied where the node's would have been, and the superstep goes on. Without a route of its own
    /// it leaves as the node does, by edges or a route function; a route that it returns leads elsewhere. Where the node's
    /// result is its route, the handler has to return one too.
    ///
    /// ```
    /// # use graph_core::{END, GraphState, NodeFailure, Result, START, StateGraph, bail};
    /// # #[derive(GraphState, Clone)]
    /// # struct Page { text: String }
    /// async fn fetch(_: &Page) -> Result<PageUpdate> {
    ///     bail!("nobody is there")
    /// }
    ///
    /// async fn apologize(_: &Page, failure: &NodeFailure) -> PageUpdate {
    ///     Page::update().text(format!("we are sorry: {}", failure.error))
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> graph_core::Result<()> {
    /// let graph = StateGraph::<Page>::new()
    ///     .edge(START, fetch)
    ///     .edge(fetch, END)
    ///     .on_error(fetch, apologize)
    ///     .compile()?;
    /// assert_eq!(graph.run(Page::input()).await?.state().text, "we are sorry: nobody is there");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// A handler may ask and take durable steps; those of the node are not its own. It is asked once, and no policy is for it:
    /// when it fails, the task has failed with its error ([`handled`](crate::NodeFailure::handled) is the first). What is
    /// wrong with a node's use of this library, failures of the store, and what is refused when a superstep is applied (a
    /// rule, a reducer, a route function) it is not asked about.
    ///
    /// # Durability
    /// On a thread, the failure is durable before the handler begins (not with
    /// [`Durability::Exit`](crate::Durability::Exit), where a crash loses the run): should the process die then, a resumed
    /// run asks the handler and does not run the node. What is left of the error is its text then
    /// ([`stored`](field@crate::NodeFailure::stored)).
    pub fn on_error<N, M, F, H, MH>(mut self, node: N, handler: H) -> Self
    where
        N: Shape<M, Body = Body<F>>,
        H: Shape<MH>,
        H::Signature: HandlerReads<S, D> + Returns<S> + Handles<S, D, H::Body>,
    {
        let handler = <H::Signature as Handles<S, D, H::Body>>::handler(handler.into_body());
        self.draft.policies.handlers.push((node.into_body().node, Some(handler)));
        self
    }

    /// Lets a failure of the node be a failure of the superstep, whatever the graph's
    /// [default error handler](Self::default_on_error) is.
    pub fn no_on_error<N, M, F>(mut self, node: N) -> Self
    where
        N: Shape<M, Body = Body<F>>,
    {
        self.draft.policies.handlers.push((node.into_body().node, None));
        self
    }

    /// The error handler of all nodes that have none of their own, and are not said to have [none](Self::no_on_error).
    pub fn default_on_error<H, MH>(mut self, handler: H) -> Self
    where
        H: Shape<MH>,
        H::Signature: HandlerReads<S, D> + Returns<S> + Handles<S, D, H::Body>,
    {
        let handler = <H::Signature as Handles<S, D, H::Body>>::handler(handler.into_body());
        self.draft.policies.default_handler = Some(handler);
        self
    }

    /// What becomes of a failed node's siblings, unless a run says otherwise.
    pub fn on_failure(mut self, mode: FailureMode) -> Self {
        self.draft.failure_mode = mode;
        self
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
