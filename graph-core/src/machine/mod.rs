//! Typed state machines: each node is a struct with data, and selects the next node by its return type.
//!
//! A node has an async function `run` over `&self` and the parameters of a [graph](crate::StateGraph)'s node. The
//! return type of `run` lists the edges of the node:
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
//! These mistakes are compile errors:
//!
//! - an edge to a type that is not a node of the machine
//! - an end with another type than the machine's output
//! - a state or a context that the machine does not have
//!
//! # A machine is a graph
//!
//! [`compile`](Machine::compile) builds a [graph](crate::Graph) with a route after each node, which sends the next
//! node's data as a packet. The features of graphs are available:
//!
//! - A node can [interrupt](crate::Context::interrupt), take durable [steps](crate::Context::step) and
//!   [emit](crate::Context::emit) events.
//! - A node can read the state, a [view](derive@crate::StateView) of it, `&Context` and `&ContextWith<_>`.
//! - A machine runs on [threads](crate::thread), streams events, and can be replayed and forked.
//!
//! The derive generates the state of a run, such as `FivesRun`, into which the machine's own state is
//! [flattened](derive@crate::GraphState).
//!
//! A machine runs one node at a time. For fan-out, map-reduce and joins use a [graph](crate::StateGraph).

mod any_node;
mod definition;
mod end;
mod ended;
mod leads;
mod node_fn;
mod place;
mod run_function;
mod stateless;
mod steps;
mod to;
mod wiring;

#[doc(hidden)]
pub use any_node::{NodeData, debug_node, read_node};
#[doc(hidden)]
pub use definition::exit_to;
#[doc(hidden)]
pub use definition::{AnyNode, InputOf, NodeOf, OutputOf, RunState, StateInputOf, Unsaid};
pub use definition::{IntoNode, Machine, StateMachine};
pub use end::End;
#[doc(hidden)]
pub use end::Ending;
pub use ended::Ended;
#[doc(hidden)]
pub use leads::Leads;
#[doc(hidden)]
pub use place::IsNodeHandle;
pub use place::NodeHandle;
#[doc(hidden)]
pub use run_function::RunFunction;
pub use stateless::{Stateless, StatelessInput, StatelessUpdate};
pub use steps::Steps;
#[doc = include_str!("../../docs/machine.md")]
pub use superstep_derive::Machine;
#[doc(hidden)]
pub use to::{At, Of1, Of2, Of3, Of4, Of5, Of6, Of7, Of8, Way};
#[doc(hidden)]
pub use to::{Edge, Edges, List, OneOf};
pub use to::{To, to};
#[doc(hidden)]
pub use wiring::Wiring;
