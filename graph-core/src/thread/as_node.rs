use crate::node::{
    Body, End, EndSignature, Exit, IntoLeave, Leave, NodeError, NodeRef, Shape, Signature, Start,
    StartSignature,
};

/// In whose place an update is made; see [`as_node`].
///
/// A node that leaves by edges, or by a route function, is enough; for one whose return value is its route, say which way
/// it shall have taken:
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
/// let place = as_node(review).taking(Verdict::Accept);
/// # let _ = place;
/// ```
#[derive(Debug)]
pub struct AsNode {
    pub(super) node: NodeRef,
    pub(super) taken: Option<Taken>,
}

/// A way that a node shall have taken.
#[derive(Debug)]
pub(super) struct Taken {
    pub(super) exits: Vec<Exit>,
    pub(super) leave: Result<Leave, NodeError>,
}

/// Makes an update in the place of a node: a function, a node with a name, START, or END to finish the thread.
pub fn as_node<N, M>(node: N) -> AsNode
where
    N: Shape<M>,
    N::Signature: StandsFor<N::Body>,
{
    AsNode { node: <N::Signature as StandsFor<N::Body>>::node(node.into_body()), taken: None }
}

impl AsNode {
    /// The node of this name; for programs that get it from outside, such as a command line.
    pub fn named(name: impl Into<String>) -> Self {
        let name = name.into();
        let node = match name.as_str() {
            "START" => NodeRef::Start,
            "END" => NodeRef::End,
            _ => NodeRef::Named(name.into()),
        };
        Self { node, taken: None }
    }

    pub(super) fn is_end(&self) -> bool {
        self.node == NodeRef::End
    }

    pub(super) fn name(&self) -> &str {
        self.node.name()
    }

    /// Says which way the node shall have taken: its route, or several of them.
    pub fn taking<R: IntoLeave>(self, route: R) -> Self {
        Self { taken: Some(Taken { exits: R::exits(), leave: route.into_leave() }), ..self }
    }
}

/// In whose place an update is made: [`AsNode`], or `None` where that is plain from what ran last.
#[diagnostic::on_unimplemented(
    message = "an update is not made in the place of this",
    label = "is neither `as_node(..)` nor `None`",
    note = "write `as_node(draft)` for a node `draft`, `AsNode::named(..)` for a name, or `None` where it is plain"
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

/// Something in whose place an update can be made.
#[diagnostic::on_unimplemented(
    message = "an update cannot be made in the place of this",
    label = "is neither a node, nor START or END"
)]
pub trait StandsFor<B> {
    #[doc(hidden)]
    fn node(body: B) -> NodeRef;
}

#[diagnostic::do_not_recommend]
impl<F, Args, Out> StandsFor<Body<F>> for Signature<Args, Out> {
    fn node(body: Body<F>) -> NodeRef {
        body.node
    }
}

#[diagnostic::do_not_recommend]
impl StandsFor<End> for EndSignature {
    fn node(_: End) -> NodeRef {
        NodeRef::End
    }
}

#[diagnostic::do_not_recommend]
impl StandsFor<Start> for StartSignature {
    fn node(_: Start) -> NodeRef {
        NodeRef::Start
    }
}
