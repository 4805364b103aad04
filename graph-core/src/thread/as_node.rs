use std::fmt;

use serde_json::Value;

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
