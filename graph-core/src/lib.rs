//! Typed state graphs: async functions over a plain struct, run in supersteps.
//!
//! Derive [`GraphState`](derive@GraphState) on a struct, write nodes as async functions from `&State` to a partial
//! update, put them into a [`StateGraph`], and [`run`](Graph::run) it:
//!
//! ```
//! use superstep::{END, GraphState, START, StateGraph};
//!
//! #[derive(GraphState, Clone)]
//! struct Greeting {
//!     #[state(input)]
//!     name: String,
//!     #[state(reducer = append)]
//!     words: Vec<String>,
//! }
//!
//! async fn hello(_: &Greeting) -> GreetingUpdate {
//!     Greeting::update().words(["hello".to_owned()])
//! }
//!
//! async fn name(greeting: &Greeting) -> GreetingUpdate {
//!     Greeting::update().words([greeting.name.clone()])
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> superstep::Result<()> {
//! let graph = StateGraph::<Greeting>::new().edge(START, hello).edge(hello, name).edge(name, END).compile()?;
//! let greeting = graph.run(Greeting::input("Lance")).await?.into_state();
//! assert_eq!(greeting.words, ["hello", "Lance"]);
//! # Ok(())
//! # }
//! ```
//!
//! # Supersteps
//!
//! A run goes *input → (plan → execute → apply)\* → output*. All nodes that are planned together run concurrently and read
//! the state as it was before; what they return is applied in an order that the graph fixes, never the one in which they
//! finished. Two of them that write a field without a reducer are an error that names both, and nothing is applied.
//!
//! # What a node may be
//!
//! An `async fn` (or an async closure without captures, under a name) whose parameters are, in any order: `&State` or a
//! state flattened into it, a [view](derive@StateView) by value, a packet by reference, [`&Context`](Context), [`&ContextWith<D>`](ContextWith).
//! Or a struct that implements [`Node`] or [`PacketNode`]. It returns an update, a [route](derive@Route), both as a
//! tuple, `()`, or a [`Result`] of these.
//!
//! # Running
//!
//! [`Graph::run`] takes options before it is awaited; [`stream`](Graph::stream) gives the same run as typed events,
//! [`start`](run::Run::start) lets the caller step it by hand. Tasks use all cores on a multi-thread tokio runtime; on a
//! current-thread one, or without one, they take turns.
//!
//! A node asks a person with [`Context::interrupt`]; the run then ends [interrupted](Outcome::Interrupted), and goes on with the
//! answer: see [`interrupt`]. What must not be done twice when a node runs again is a [`Context::step`].
//!
//! # Threads
//!
//! [`Graph::with_checkpointer`] gives a graph that runs on [threads](thread::Thread): every superstep is stored, and a thread
//! can be gone on with, looked at and branched, in this process or another. A node that [asks](Context::interrupt) stops the run
//! until there is an answer; what must not be done twice goes into a [step](Context::step).
//!
//! ```
//! use superstep::checkpoint::MemoryCheckpointer;
//! use superstep::{END, GraphState, START, StateGraph};
//!
//! #[derive(GraphState, Clone)]
//! struct Sum {
//!     #[state(input, reducer = add)]
//!     total: u32,
//! }
//!
//! async fn double(sum: &Sum) -> SumUpdate {
//!     Sum::update().total(sum.total)
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> superstep::Result<()> {
//! let graph = StateGraph::<Sum>::new().edge(START, double).edge(double, END).compile()?;
//! // `superstep_sqlite::SqliteCheckpointer::open("sums.db")?` keeps them in a file.
//! let graph = graph.with_checkpointer(MemoryCheckpointer::new());
//!
//! let thread = graph.thread("ann");
//! thread.run(Sum::input().total(1_u32)).await?;
//! assert_eq!(thread.run(Sum::input().total(3_u32)).await?.state().total, 10);
//!
//! // Back to the checkpoint after the first run, and another way from there.
//! let history = thread.history().await?;
//! let first = history.iter().rev().find(|snapshot| snapshot.is_finished()).expect("it was complete");
//! assert_eq!(thread.at(first.id).run(Sum::input().total(1_u32)).await?.state().total, 6);
//! # Ok(())
//! # }
//! ```
//!
//! # Other ways to write one
//!
//! A [`workflow`] is one async function, a [`machine`] a set of structs that say themselves where they lead. Both are graphs.
//!
//! # Testing a node
//!
//! A node is a function: call it. [`GraphState::started`] makes a state from an input, [`ContextWith::detached`] a context,
//! [`View::of`](derive@StateView) a view, and [`GraphState::updated`] applies what the node returned, through reducers and
//! rules. One that asks a person is given its answers by [`Context::answering`]; without them it would wait for ever, unless
//! [`Context::until_interrupt`] looks at what it asks.
//!
//! # Features
//!
//! | feature | what it adds |
//! |---|---|
//! | `encryption` | encryption at rest around any store: `checkpoint::EncryptedCheckpointer`, through `chacha20poly1305` |
//! | `schema` | JSON Schema of state, input and output, through `schemars` |
//! | `tracing` | spans of runs, supersteps and nodes for any `tracing` subscriber, by OpenTelemetry's conventions where there are any; they never hold a value of the state |
//! | `email`, `url`, `pattern` | these validation rules, with the crates that know the grammar |

pub mod cache;
pub mod checkpoint;
mod engine;
mod error;
pub mod graph;
pub mod interrupt;
pub mod machine;
pub mod messages;
pub mod node;
pub mod payload;
mod plan;
pub mod policy;
pub mod reducers;
pub mod run;
#[cfg(feature = "schema")]
pub mod schema;
pub mod state;
pub mod store;
pub mod stream;
pub mod subgraph;
pub mod thread;
pub mod workflow;

#[doc(hidden)]
pub mod __private;

pub use engine::{Context, ContextWith, DEFAULT_RECURSION_LIMIT, Durability, FailureMode, Metadata};
pub use error::{Error, ErrorKind, NodeFailure, WiringProblem};
pub use graph::builder::StateGraph;
pub use graph::compiled::Graph;
pub use node::error::{NodeError, Result};
pub use node::identity::{END, START, named};
pub use node::object::{Node, PacketNode};
pub use node::route::Route;
pub use run::outcome::Outcome;
pub use state::change::Overwrite;
pub use state::field::Field;
pub use state::graph_state::GraphState;
pub use stream::event::{Event, EventKind, StreamMode};
#[doc = include_str!("../docs/graph_state.md")]
pub use superstep_derive::GraphState;
#[doc = include_str!("../docs/route.md")]
pub use superstep_derive::Route;
#[doc = include_str!("../docs/state_view.md")]
pub use superstep_derive::StateView;

pub(crate) use superstep_store::payload::panic_text;
