//! Typed state machines: nodes that are structs with data, each of which says where it leads.
//!
//! A node is a struct, its `run` an async function over `&self` and whatever a node of a [graph](crate::StateGraph) may
//! read, and the return type of that function is the list of the node's edges:
//!
//! ```
//! use superstep::machine::{End, Machine, To, to};
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Machine)]
//! #[machine(nodes(DivisibleBy5, Increment), output = i64)]
//! struct Fives;
//!
//! #[derive(Serialize, Deserialize)]
//! struct DivisibleBy5(i64);
//!
//! impl DivisibleBy5 {
//!     async fn run(&self) -> To<Fives, (Increment, End<i64>)> {
//!         if self.0 % 5 == 0 { to(End(self.0)) } else { to(Increment(self.0)) }
//!     }
//! }
//!
//! #[derive(Serialize, Deserialize)]
//! struct Increment(i64);
//!
//! impl Increment {
//!     async fn run(&self) -> DivisibleBy5 {
//!         DivisibleBy5(self.0 + 1)
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> superstep::Result<()> {
//! let ended = Fives::compile()?.run(DivisibleBy5(4)).await?.ended()?;
//! assert_eq!(ended.output, 5);
//! # Ok(())
//! # }
//! ```
//!
//! An edge to what is no node of the machine, an end with another type than the machine's, a state or a context that the
//! machine does not have: each is a compile error.
//!
//! # It is a graph
//!
//! [`compile`](Machine::compile) makes a [graph](crate::Graph) with a route after each node, and its data as the packet. So a
//! node may [ask](crate::Context::interrupt), have durable [steps](crate::Context::step), [emit](crate::Context::emit), take the state, a
//! [view](derive@crate::StateView) of it, `&Context` and `&ContextWith<_>`; and a machine runs on
//! [threads](crate::thread), streams its events, is replayed and branched as a graph is. What a run holds is a state made by
//! the derive, `FivesRun`, with the machine's own state [flattened](derive@crate::GraphState) into it.
//!
//! A machine is in one node at a time. What runs several at once (fan-out, maps, joins) is a [graph](crate::StateGraph).

mod any_node;
mod definition;
mod end;
mod ended;
mod leads;
mod moving;
mod place;
mod state_machine;
mod stateless;
mod steps;
mod to;
mod wiring;

#[doc(hidden)]
pub use any_node::{NodeData, debug_node, read_node};
#[doc(hidden)]
pub use definition::exit_to;
pub use definition::{AnyNode, InputOf, IntoNode, Machine, NodeOf, RunState, StateInputOf, Unsaid};
pub use end::{End, Ending, OutputOf};
pub use ended::Ended;
pub use leads::Leads;
pub use place::{IsPlace, Place};
pub use state_machine::StateMachine;
pub use stateless::Stateless;
pub use steps::Steps;
#[doc = include_str!("../../docs/machine.md")]
pub use superstep_derive::Machine;
#[doc(hidden)]
pub use to::{At, Of1, Of2, Of3, Of4, Of5, Of6, Of7, Of8, Way};
pub use to::{Edge, Edges, List, OneOf, To, to};
#[doc(hidden)]
pub use wiring::Wiring;
