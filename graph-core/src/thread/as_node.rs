use std::fmt;

use serde_json::Value;

use crate::error::NodeError;
use crate::node::{Body, EndSignature, Instead, NotANode, Shape, Signature, StartSignature};
use crate::step::{End, Exit, IntoLeave, Leave, NodeRef, Start};

/// The node in whose place an update is made; see [`as_node`].
///
/// If the node's return value is its route, choose the route with [`with_route`](Self::with_route). Nodes that leave by edges or by
/// a route function need only their name:
///
/// ```
/// # use superstep::{END, Route};
/// # use superstep::thread::as_node;
/// # #[derive(superstep::GraphState, Clone)] struct Ticket { answer: Option<String> }
/// # async fn review(_: &Ticket) -> Verdict { Verdict::Accept }
/// #[derive(Route)]
/// enum Verdict {
///     #[to(review)]
///     Rework,
///     #[to(END)]
///     Accept,
/// }
///
/// let place = as_node(review).with_route(Verdict::Accept);
/// # let _ = place;
/// ```
#[derive(Debug)]
pub struct AsNode {
    pub(crate) node: NodeRef,
    pub(crate) taken: Option<Taken>,
    /// `true` for [`keep_plan`], which stands for no node.
    pub(crate) keeps_plan: bool,
}

/// The route that the node is assumed to have returned.
#[derive(Debug)]
pub(crate) enum Taken {
    Typed { exits: Vec<Exit>, leave: Result<Leave, NodeError> },
    Named(Vec<NamedRoute>),
}

/// A route by its label or its target, with the JSON of its packet.
pub(crate) struct NamedRoute {
    pub(crate) name: String,
    pub(crate) packet: Option<Value>,
}

impl fmt::Debug for NamedRoute {
    /// Leaves out the packet, which has no dump rules.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// Chooses the node in whose place an update is made.
///
/// The argument is a node function, a named node, START, or END to finish the thread.
pub fn as_node<N, M>(node: N) -> AsNode
where
    N: Shape<M>,
    N::Signature: AsNodeTarget<N::Body>,
{
    AsNode::of(<N::Signature as AsNodeTarget<N::Body>>::node(node.into_body()))
}

/// Makes an update in the place of no node: the planned tasks stay planned, with their progress.
///
/// For an editor of a thread's state. The update has a checkpoint of its own, and the thread waits, has failed or is
/// finished as before.
///
/// - Results of finished tasks stay, although the tasks have read the state before the update.
/// - Open questions keep their ids, and answers, durable steps, timers and attempts are kept. A task that runs again reads the
///   new state. If it then asks another question, the answer to the old one does not count.
/// - Subgraph calls under way continue. A call on the parent state sees the update, a call with its own state does not.
/// - On an older checkpoint, the update starts a branch with the same plan. As in a replay, all its tasks begin anew.
///
/// ```
/// # use serde::{Deserialize, Serialize};
/// # use superstep::checkpoint::MemoryCheckpointer;
/// # use superstep::{Context, END, GraphState, Outcome, START, StateGraph, interrupt::Question};
/// use superstep::thread::keep_plan;
/// # #[derive(Serialize, Deserialize)]
/// # struct Approve;
/// # impl Question for Approve { type Answer = bool; }
/// # #[derive(GraphState, Clone)]
/// # struct Order { #[state(input)] price: u32, bought: bool }
/// # async fn buy(_: &Order, cx: &Context) -> OrderUpdate {
/// #     Order::update().bought(cx.interrupt(Approve).await)
/// # }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> superstep::Result<()> {
/// # let graph = StateGraph::<Order>::new().edge(START, buy).edge(buy, END).compile()?;
/// # let thread = graph.with_checkpointer(MemoryCheckpointer::default()).thread("17");
/// # assert!(matches!(thread.run(Order::input(300)).await?, Outcome::Interrupted(_)));
/// let question = thread.interrupts().await?.only::<Approve>()?;
/// thread.update(Order::update().price(250_u32), keep_plan()).await?;
///
/// // The question is still open, and can be answered.
/// let order = thread.resume(question.answer(true)).await?.into_state();
/// assert_eq!((order.price, order.bought), (250, true));
/// # Ok(())
/// # }
/// ```
pub fn keep_plan() -> AsNode {
    AsNode { keeps_plan: true, ..AsNode::of(NodeRef::Start) }
}

impl AsNode {
    /// Chooses a node by its name, for programs that receive the name as input, such as a command line.
    ///
    /// `"START"` and `"END"` mean [`START`](crate::START) and [`END`](crate::END).
    pub fn named(name: impl Into<String>) -> Self {
        let name = name.into();
        let node = match name.as_str() {
            "START" => NodeRef::Start,
            "END" => NodeRef::End,
            _ => NodeRef::Named(name.into()),
        };
        Self::of(node)
    }

    fn of(node: NodeRef) -> Self {
        Self { node, taken: None, keeps_plan: false }
    }

    pub(crate) fn is_end(&self) -> bool {
        self.node == NodeRef::End
    }

    pub(crate) fn name(&self) -> &str {
        if self.keeps_plan { KEEP_PLAN } else { self.node.name() }
    }

    /// Sets the route, or the routes, that the node is assumed to have returned. Replaces routes that were set before.
    pub fn with_route<R: IntoLeave>(self, route: R) -> Self {
        Self { taken: Some(Taken::Typed { exits: R::exits(), leave: route.into_leave() }), ..self }
    }

    /// Adds a route that the node is assumed to have returned, by the name of its variant or of the node to which it
    /// leads, for programs that receive it as input.
    ///
    /// Call it several times for a node that returns a list of routes. If several variants lead to a node, its name is
    /// ambiguous: use the name of the variant.
    ///
    /// ```
    /// use superstep::thread::AsNode;
    ///
    /// let place = AsNode::named("review").with_route_named("Accept");
    /// # let _ = place;
    /// ```
    ///
    /// # Errors
    /// Awaiting the update fails with [`InvalidAsNode`](crate::ErrorKind::InvalidAsNode), which lists the routes of the
    /// node, if it has no such route, or if the route has a packet.
    pub fn with_route_named(self, name: impl Into<String>) -> Self {
        self.with_named(NamedRoute { name: name.into(), packet: None })
    }

    /// Adds a route with a packet, like [`with_route_named`](Self::with_route_named). The JSON is read as the type of the
    /// packet.
    ///
    /// ```
    /// use serde_json::json;
    /// use superstep::thread::AsNode;
    ///
    /// let tea = json!({ "title": "tea" });
    /// let place = AsNode::named("plan").with_packet_named("Research", tea).with_route_named("Summarize");
    /// # let _ = place;
    /// ```
    ///
    /// # Errors
    /// Awaiting the update fails with [`InvalidAsNode`](crate::ErrorKind::InvalidAsNode) if the node has no such route, or
    /// if the JSON does not fit. The error has the path of the wrong value.
    pub fn with_packet_named(self, name: impl Into<String>, packet: impl Into<Value>) -> Self {
        self.with_named(NamedRoute { name: name.into(), packet: Some(packet.into()) })
    }

    fn with_named(mut self, route: NamedRoute) -> Self {
        match &mut self.taken {
            Some(Taken::Named(routes)) => routes.push(route),
            taken => *taken = Some(Taken::Named(vec![route])),
        }
        self
    }
}

/// The name of [`keep_plan`] in errors.
pub(crate) const KEEP_PLAN: &str = "keep_plan()";

/// The node in whose place an update is made: [`AsNode`], or `None` for the node that ran last.
#[diagnostic::on_unimplemented(
    message = "an update cannot be made in the place of this value",
    label = "expected `as_node(..)` or `None`",
    note = "write `as_node(draft)` for a node `draft`, `AsNode::named(..)` for a name, or `None` for the node that ran last"
)]
pub trait IntoAsNode {
    #[doc(hidden)]
    fn into_place(self) -> Option<AsNode>;
}

#[diagnostic::do_not_recommend]
impl IntoAsNode for AsNode {
    fn into_place(self) -> Option<AsNode> {
        Some(self)
    }
}

#[diagnostic::do_not_recommend]
impl IntoAsNode for Option<AsNode> {
    fn into_place(self) -> Option<AsNode> {
        self
    }
}

/// A node, START or END: the values that [`as_node`] accepts.
#[diagnostic::on_unimplemented(
    message = "an update cannot be made in the place of this value",
    label = "expected a node, `START` or `END`"
)]
pub trait AsNodeTarget<B> {
    #[doc(hidden)]
    fn node(body: B) -> NodeRef;
}

#[diagnostic::do_not_recommend]
impl<F, Args, Out> AsNodeTarget<Body<F>> for Signature<Args, Out> {
    fn node(body: Body<F>) -> NodeRef {
        body.node
    }
}

impl<K: Instead> AsNodeTarget<Self> for NotANode<K> {
    fn node(_: Self) -> NodeRef {
        K::never()
    }
}

#[diagnostic::do_not_recommend]
impl AsNodeTarget<End> for EndSignature {
    fn node(_: End) -> NodeRef {
        NodeRef::End
    }
}

#[diagnostic::do_not_recommend]
impl AsNodeTarget<Start> for StartSignature {
    fn node(_: Start) -> NodeRef {
        NodeRef::Start
    }
}
