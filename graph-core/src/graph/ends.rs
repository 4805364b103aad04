//! The bounds of the builder on the ends of edges and on handlers.
//!
//! For an unsatisfied bound rustc lists the impls of the outermost trait. The impls of the traits that do the work are for
//! the types of inferred shapes. These traits have one impl each, for all types, which rustc does not list.

use crate::state::GraphState;

use super::{Enters, Handles, Leaves, Listed, Registers};

macro_rules! ends {
    ($($(#[doc = $doc:literal])+ $name:ident: $inner:ident;)*) => {$(
        $(#[doc = $doc])+
        pub trait $name<S: GraphState, D, B>: $inner<S, D, B> {}

        impl<S: GraphState, D, B, G: $inner<S, D, B>> $name<S, D, B> for G {}
    )*};
}

ends! {
    /// A value that an edge can leave.
    EdgeSource: Leaves;

    /// A value that an edge can lead to.
    EdgeTarget: Enters;

    /// The sources of a join.
    JoinSources: Listed;

    /// A single node.
    OneNode: Registers;

    /// An error handler.
    ErrorHandler: Handles;
}
