use crate::error::NodeError;
use crate::node::{Body, EndSignature, Shape, Signature, StartSignature};
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
}

/// The route that the node is assumed to have returned.
#[derive(Debug)]
pub(crate) struct Taken {
    pub(crate) exits: Vec<Exit>,
    pub(crate) leave: Result<Leave, NodeError>,
}

/// Chooses the node in whose place an update is made.
///
/// The argument is a node function, a named node, START, or END to finish the thread.
pub fn as_node<N, M>(node: N) -> AsNode
where
    N: Shape<M>,
    N::Signature: AsNodeTarget<N::Body>,
{
    AsNode { node: <N::Signature as AsNodeTarget<N::Body>>::node(node.into_body()), taken: None }
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
        Self { node, taken: None }
    }

    pub(crate) fn is_end(&self) -> bool {
        self.node == NodeRef::End
    }

    pub(crate) fn name(&self) -> &str {
        self.node.name()
    }

    /// Sets the route, or the routes, that the node is assumed to have returned.
    pub fn with_route<R: IntoLeave>(self, route: R) -> Self {
        Self { taken: Some(Taken { exits: R::exits(), leave: route.into_leave() }), ..self }
    }
}

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

impl IntoAsNode for AsNode {
    fn into_place(self) -> Option<AsNode> {
        Some(self)
    }
}

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
