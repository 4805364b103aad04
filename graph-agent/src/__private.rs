//! Items that generated code uses. Not part of the public interface.

pub use crate::ToolSpec;
pub use crate::tool::{
    Argument, IntoToolOutput, Tool, ToolFuture, ToolInvocation, read_arguments, schema_of,
};
pub use schemars;
pub use serde;
pub use std::boxed::Box;
pub use std::string::String;
pub use superstep::__private::{Checked, Extract, FixedParam, Param, Source};
pub use superstep::{GraphState, NodeError};
pub use superstep_derive::tool_items;

/// Returns a parameter that the run provides.
///
/// # Errors
/// The parameter is a packet: a tool receives none.
pub fn provided<'a, P, S, D>(
    turn: ToolInvocation<'a, S, D>,
) -> Result<<P::Fixed as FixedParam>::At<'a>, NodeError>
where
    P: Param<Fixed: Extract<S, D>>,
{
    let from = Source { state: turn.state, packet: None, ctx: turn.cx };
    <P::Fixed as Extract<S, D>>::extract(from).ok_or_else(|| {
        NodeError::msg("a tool takes its arguments by value, and the state or the context by reference")
    })
}
