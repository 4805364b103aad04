use crate::node::{Body, EndSignature, Shape, Signature, StartSignature};
use crate::step::{End, NodeRef, Start};

/// A node, START or END, as a picture shows them.
#[diagnostic::on_unimplemented(
    message = "a picture does not show this",
    label = "expected a node, START or END"
)]
pub trait Drawn<B> {
    #[doc(hidden)]
    fn node(body: B) -> NodeRef;
}

#[diagnostic::do_not_recommend]
impl<F, Args, Out> Drawn<Body<F>> for Signature<Args, Out> {
    fn node(body: Body<F>) -> NodeRef {
        body.node
    }
}

#[diagnostic::do_not_recommend]
impl Drawn<End> for EndSignature {
    fn node(_: End) -> NodeRef {
        NodeRef::End
    }
}

#[diagnostic::do_not_recommend]
impl Drawn<Start> for StartSignature {
    fn node(_: Start) -> NodeRef {
        NodeRef::Start
    }
}

pub(crate) fn drawn<N, M>(node: N) -> NodeRef
where
    N: Shape<M>,
    N::Signature: Drawn<N::Body>,
{
    <N::Signature as Drawn<N::Body>>::node(node.into_body())
}

/// Returns the node with this name, or START or END.
pub(crate) fn named(name: &str) -> NodeRef {
    match name {
        "START" => NodeRef::Start,
        "END" => NodeRef::End,
        name => NodeRef::Named(name.to_owned().into()),
    }
}
