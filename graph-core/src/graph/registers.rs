use crate::node::{
    ArgsOf, Body, EndSignature, PacketKind, ReadsPacket, Runs, Several, Signature, StartSignature,
};
use crate::state::GraphState;
use crate::step::{End, IntoStep, NodeRef, Start};

use super::registration::{NodeTypes, ValueId};
use super::{Draft, WithoutPacket};

/// A value that an edge can leave: START or a node.
#[diagnostic::on_unimplemented(
    message = "an edge cannot leave this",
    label = "is neither START nor a node",
    note = "nothing follows END; for several nodes, write `.join((a, b), c)` to wait for all of them, or one `.edge` for each"
)]
pub trait Leaves<S: GraphState, D, B> {
    /// Registers the node, unless the value is START.
    #[doc(hidden)]
    fn leave(body: B, draft: &mut Draft) -> NodeRef;
}

/// A single node: not START, END or a tuple.
pub trait Registers<S: GraphState, D, B> {
    /// Registers the node.
    #[doc(hidden)]
    fn register(body: B, draft: &mut Draft) -> NodeRef;
}

/// A value that an edge can lead to: a node, END, or a tuple of these.
pub trait Enters<S: GraphState, D, B> {
    /// Registers the nodes.
    #[doc(hidden)]
    fn enter(body: B, draft: &mut Draft, nodes: &mut Vec<NodeRef>);
}

/// A tuple of nodes, such as the sources of a join.
#[diagnostic::on_unimplemented(
    message = "a join cannot wait for this",
    label = "is not a tuple of nodes",
    note = "write `.join((a, b), c)`"
)]
pub trait Listed<S: GraphState, D, B> {
    /// Registers the nodes.
    #[doc(hidden)]
    fn list(body: B, draft: &mut Draft, nodes: &mut Vec<NodeRef>);
}

/// The signature of a node that a graph over `S` with context `D` can run. `F` is the function or struct.
pub trait Runnable<S: GraphState, D, F> {
    /// Registers the node.
    #[doc(hidden)]
    fn register(body: Body<F>, draft: &mut Draft) -> NodeRef;
}

impl<S, D, F, Args, Out> Runnable<S, D, F> for Signature<Args, Out>
where
    S: GraphState,
    F: 'static,
    Args: ArgsOf<S, D> + ReadsPacket,
    Out: IntoStep<S>,
    Args::Fixed: Runs<S, D, F, Out>,
{
    fn register(body: Body<F>, draft: &mut Draft) -> NodeRef {
        let value = ValueId::of(&body.run);
        let run = <Args::Fixed as Runs<S, D, F, Out>>::erase(body.run);
        let types = NodeTypes {
            exits: <Args::Fixed as Runs<S, D, F, Out>>::exits,
            parent_commands: <Args::Fixed as Runs<S, D, F, Out>>::parent_commands,
            packet: Args::Packet::packet_type,
            writes: const {
                match <Args::Fixed as Runs<S, D, F, Out>>::WRITES {
                    Some(writes) => writes,
                    None => Out::WRITES,
                }
            },
        };
        draft.register_node(body.node, value, run, types)
    }
}

impl<S: GraphState, D, F, Args, Out> Registers<S, D, Body<F>> for Signature<Args, Out>
where
    Self: Runnable<S, D, F>,
{
    fn register(body: Body<F>, draft: &mut Draft) -> NodeRef {
        <Self as Runnable<S, D, F>>::register(body, draft)
    }
}

impl<S: GraphState, D, F, Args, Out> Leaves<S, D, Body<F>> for Signature<Args, Out>
where
    Self: Runnable<S, D, F>,
{
    fn leave(body: Body<F>, draft: &mut Draft) -> NodeRef {
        <Self as Runnable<S, D, F>>::register(body, draft)
    }
}

#[diagnostic::do_not_recommend]
impl<S: GraphState, D> Leaves<S, D, Start> for StartSignature {
    fn leave(_: Start, _: &mut Draft) -> NodeRef {
        NodeRef::Start
    }
}

impl<S: GraphState, D, F, Args, Out> Enters<S, D, Body<F>> for Signature<Args, Out>
where
    Self: Runnable<S, D, F> + WithoutPacket<S>,
{
    fn enter(body: Body<F>, draft: &mut Draft, nodes: &mut Vec<NodeRef>) {
        nodes.push(<Self as Runnable<S, D, F>>::register(body, draft));
    }
}

#[diagnostic::do_not_recommend]
impl<S: GraphState, D> Enters<S, D, End> for EndSignature {
    fn enter(_: End, _: &mut Draft, nodes: &mut Vec<NodeRef>) {
        nodes.push(NodeRef::End);
    }
}

macro_rules! several {
    ($(($($signature:ident $body:ident),+))*) => {$(
        impl<S, D, $($signature, $body),+> Enters<S, D, ($($body,)+)> for Several<($($signature,)+)>
        where
            S: GraphState,
            $($signature: Enters<S, D, $body>),+
        {
            fn enter(body: ($($body,)+), draft: &mut Draft, nodes: &mut Vec<NodeRef>) {
                #[expect(non_snake_case, reason = "the macro names values like their types")]
                let ($($body,)+) = body;
                $($signature::enter($body, draft, nodes);)+
            }
        }

        impl<S, D, $($signature, $body),+> Listed<S, D, ($($body,)+)> for Several<($($signature,)+)>
        where
            S: GraphState,
            $($signature: Registers<S, D, $body>),+
        {
            fn list(body: ($($body,)+), draft: &mut Draft, nodes: &mut Vec<NodeRef>) {
                #[expect(non_snake_case, reason = "the macro names values like their types")]
                let ($($body,)+) = body;
                $(nodes.push($signature::register($body, draft));)+
            }
        }
    )*};
}

several! {
    (A BA)
    (A BA, B BB)
    (A BA, B BB, C BC)
    (A BA, B BB, C BC, E BE)
    (A BA, B BB, C BC, E BE, F BF)
    (A BA, B BB, C BC, E BE, F BF, G BG)
    (A BA, B BB, C BC, E BE, F BF, G BG, H BH)
    (A BA, B BB, C BC, E BE, F BF, G BG, H BH, I BI)
}
