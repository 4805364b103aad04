//! START, END, tuples and single nodes at places that do not take them.
//!
//! Each of these bounds never holds, and its words say what to write. If the traits of the builder had no impl for such a
//! value, rustc would list their impls, which are for the types of inferred shapes.

use crate::node::{Body, EndSignature, Several, Signature, StartSignature};
use crate::state::GraphState;
use crate::step::{End, NodeRef, Start};

use super::draft_handler::DraftHandler;
use super::{Draft, Enters, Handles, Leaves, Listed, Registers};

/// Several nodes, for messages.
#[derive(Debug)]
pub enum Nodes {}

/// A single node, for messages.
#[derive(Debug)]
pub enum SingleNodeOnly {}

macro_rules! never {
    ($($name:ident: $message:literal, $label:literal, $note:literal;)*) => {$(
        #[doc = concat!("Never implemented. It produces rustc's message: ", $message, ".")]
        #[diagnostic::on_unimplemented(message = $message, label = $label, note = $note)]
        pub trait $name<S> {
            /// Never called, because nothing implements the trait.
            fn never<R>() -> R;
        }
    )*};
}

never! {
    LeaveAnotherNode: "an edge cannot leave this", "is neither START nor a node",
        "nothing follows END; for several nodes, write `.join((a, b), c)` to wait for all of them, or one `.edge` for each";
    LeadToANode: "an edge cannot lead to this", "is neither a node nor END",
        "no edge can lead to START: it is the place where a run begins";
    WriteOneNode: "this is not a node", "expected a node, found START, END or a tuple",
        "write one call for each node";
    WriteATuple: "a join cannot wait for this", "is not a tuple of nodes",
        "write `.join((a, b), c)`";
    WriteAHandler: "this is not an error handler", "expected a function, found START, END or a tuple",
        "write it like a node: an `async fn` over `&State`, `&NodeFailure`, `&Context`, and the other parameters that the \
         node can read";
}

impl<S: GraphState, D> Enters<S, D, Start> for StartSignature
where
    Start: LeadToANode<S>,
{
    fn enter(_: Start, _: &mut Draft, _: &mut Vec<NodeRef>) {}
}

macro_rules! refused {
    ($($generics:tt $signature:ty, $body:ty, $shown:ty: $($of:ident by $words:ident,)+;)*) => {$($(
        refused!(@ $of $generics $signature, $body, $shown, $words);
    )+)*};
    (@ Leaves [$($generics:ident),*] $signature:ty, $body:ty, $shown:ty, $words:ident) => {
        impl<S: GraphState, D, $($generics),*> Leaves<S, D, $body> for $signature
        where
            $shown: $words<S>,
        {
            fn leave(_: $body, _: &mut Draft) -> NodeRef {
                <$shown as $words<S>>::never()
            }
        }
    };
    (@ Registers [$($generics:ident),*] $signature:ty, $body:ty, $shown:ty, $words:ident) => {
        impl<S: GraphState, D, $($generics),*> Registers<S, D, $body> for $signature
        where
            $shown: $words<S>,
        {
            fn register(_: $body, _: &mut Draft) -> NodeRef {
                <$shown as $words<S>>::never()
            }
        }
    };
    (@ Listed [$($generics:ident),*] $signature:ty, $body:ty, $shown:ty, $words:ident) => {
        impl<S: GraphState, D, $($generics),*> Listed<S, D, $body> for $signature
        where
            $shown: $words<S>,
        {
            fn list(_: $body, _: &mut Draft, _: &mut Vec<NodeRef>) {}
        }
    };
    (@ Handles [$($generics:ident),*] $signature:ty, $body:ty, $shown:ty, $words:ident) => {
        impl<S: GraphState, D, $($generics),*> Handles<S, D, $body> for $signature
        where
            $shown: $words<S>,
        {
            fn handler(_: $body) -> DraftHandler {
                <$shown as $words<S>>::never()
            }
        }
    };
}

refused! {
    [] StartSignature, Start, Start:
        Registers by WriteOneNode, Listed by WriteATuple, Handles by WriteAHandler,;
    [] EndSignature, End, End:
        Leaves by LeaveAnotherNode, Registers by WriteOneNode, Listed by WriteATuple, Handles by WriteAHandler,;
    [T, B] Several<T>, B, Nodes:
        Leaves by LeaveAnotherNode, Registers by WriteOneNode, Handles by WriteAHandler,;
    [Args, Out, F] Signature<Args, Out>, Body<F>, SingleNodeOnly:
        Listed by WriteATuple,;
}
