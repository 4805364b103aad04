//! Graphs as nodes of other graphs.
//!
//! [`Graph::as_node`](crate::Graph::as_node) turns a graph into a node.
//!
//! - A subgraph on the same state, or on a state that is flattened into the parent state, needs no mapping. It begins
//!   with the current state, and its writes are the node's update.
//! - A subgraph on another state needs two functions that [map](Subgraph::mapped) its input and output.
//!
//! ```
//! use superstep::{END, GraphState, START, StateGraph};
//!
//! #[derive(GraphState, Clone)]
//! struct Report {
//!     #[state(reducer = append)]
//!     notes: Vec<String>,
//! }
//!
//! async fn search(_: &Report) -> ReportUpdate {
//!     Report::update().notes(["found it".to_owned()])
//! }
//!
//! async fn read(report: &Report) -> ReportUpdate {
//!     Report::update().notes([format!("read {} note(s)", report.notes.len())])
//! }
//!
//! async fn write(report: &Report) -> ReportUpdate {
//!     Report::update().notes([format!("wrote about {} notes", report.notes.len())])
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> superstep::Result<()> {
//! let research = StateGraph::<Report>::new().edge(START, search).edge(search, read).edge(read, END).compile()?;
//! let research = research.as_node("research");
//!
//! let graph = StateGraph::<Report>::new()
//!     .edge(START, &research)
//!     .edge(&research, write)
//!     .edge(write, END)
//!     .compile()?;
//! let report = graph.run(Report::input()).await?.into_state();
//! assert_eq!(report.notes, ["found it", "read 1 note(s)", "wrote about 2 notes"]);
//! # Ok(())
//! # }
//! ```

pub(crate) mod calls;
mod compile_first;
mod context;
mod erased;
mod mapped;
mod node;
mod wiring;

#[doc(hidden)]
pub use crate::step::ParentRoute;
pub use crate::step::{NoRoute, ParentCommand};
#[doc(hidden)]
pub use context::MakesContext;
pub use context::{ContextFrom, NoContext, SameContext};
#[doc(hidden)]
pub use erased::{IsSubgraph, SubgraphArgs};
pub use mapped::{CallResult, Mapped, MappedPacket};
pub use node::Subgraph;
#[doc(hidden)]
pub use wiring::{Fits, Here, WiredTo, Wiring};
