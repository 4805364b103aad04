//! Typed, durable state graphs: async functions over a plain struct, for agents, approval flows and pipelines.
//!
//! - The **state** is a struct that derives [`GraphState`](derive@GraphState).
//! - A **node** is an async function that reads the state and returns a typed partial update of it.
//! - A [`StateGraph`] connects nodes with edges, conditional edges and joins.
//! - The engine runs the graph in **supersteps** and merges the updates by the reducers of the state.
//! - With a checkpointer, every superstep is stored. A run can then pause for a person, survive a crash, and be replayed
//!   or forked.
//!
//! Many mistakes are compile errors: an unknown field, an update of another state, a destination that does not exist, a
//! packet that its node cannot read, or an answer of the wrong type. The wiring of a graph is checked when it is compiled,
//! and all mistakes are reported at once.
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
//! A run repeats three phases: *plan → execute → apply*. All nodes that are planned together run concurrently and read the
//! state as it was before the superstep. Their updates are then applied in an order that the graph determines. The order
//! in which the nodes finish never matters.
//!
//! A superstep is applied as a whole or not at all. If two nodes write the same field and it has no reducer, the run fails
//! with an error that names both nodes, and nothing is applied.
//!
//! # Nodes
//!
//! A node is one of:
//!
//! - an `async fn`
//! - an async closure without captures, under a [name](named)
//! - a struct that implements [`Node`] or [`PacketNode`]
//!
//! A function takes these parameters, in any order:
//!
//! | parameter | meaning |
//! |---|---|
//! | `&State` | the state, or a state that is flattened into it |
//! | a [view](derive@StateView) by value | some fields of the state |
//! | `&Packet` | the value that a route has sent to this task, for fan-out and map-reduce |
//! | [`&Context`](Context) | the context of the run: interrupts, durable steps, events, the long-term store |
//! | [`&ContextWith<D>`](ContextWith) | the same with the application context, a value of your type `D` |
//!
//! It returns an update (or a [narrow one](derive@StateUpdate)), a [route](derive@Route), both as a tuple, `()`, or a [`Result`] of one of these.
//!
//! # Running a graph
//!
//! [`Graph::run`] prepares a run. Set its options, then choose how to run it:
//!
//! - `.await` runs it until it finishes or pauses, and returns the [`Outcome`].
//! - [`stream`](run::Run::stream) returns the run as a [stream] of typed events, tokens among them.
//! - [`start`](run::Run::start) returns a stepper, with which the caller runs one superstep at a time.
//!
//! On a multi-thread tokio runtime, tasks use all cores. On a current-thread runtime, or without one, they take turns.
//!
//! # Human in the loop
//!
//! A node asks a person with [`Context::interrupt`]. The run then ends with [`Outcome::Interrupted`] and continues with
//! the typed answer, on a thread possibly days later and in another process. When it continues, the node runs again from
//! its beginning. Put work that must not be repeated into a durable [step](Context::step): the result of a finished step
//! is stored and reused. See [`interrupt`].
//!
//! # Threads and checkpoints
//!
//! [`Graph::with_checkpointer`] returns a graph that runs on named [threads](thread::Thread). Every superstep is stored in
//! a checkpoint. A thread can be resumed, inspected and forked, in this process or in another one.
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
//! // `superstep_sqlite::SqliteCheckpointer::open("sums.db")?` stores threads in a file.
//! let graph = graph.with_checkpointer(MemoryCheckpointer::new());
//!
//! let thread = graph.thread("ann");
//! thread.run(Sum::input().total(1_u32)).await?;
//! assert_eq!(thread.run(Sum::input().total(3_u32)).await?.state().total, 10);
//!
//! // Time travel: fork the thread at the checkpoint after the first run.
//! let history = thread.history().await?;
//! let first = history.iter().rev().find(|snapshot| snapshot.is_finished()).expect("it was complete");
//! assert_eq!(thread.at(first.id).run(Sum::input().total(1_u32)).await?.state().total, 6);
//! # Ok(())
//! # }
//! ```
//!
//! # Where to find what you need
//!
//! | task | see |
//! |---|---|
//! | reducers, validation, excluded and untracked fields | [`derive(GraphState)`](derive@GraphState), [`reducers`] |
//! | conditional edges, fan-out, map-reduce | [`derive(Route)`](derive@Route) |
//! | joins, deferred nodes, breakpoints | [`StateGraph`] |
//! | retries, timeouts, error handlers | [`policy`], [`StateGraph::on_error`] |
//! | human in the loop | [`interrupt`] |
//! | streaming | [`stream`] |
//! | resuming, history, time travel | [`thread`], [`checkpoint`] |
//! | conversations with a language model | [`messages`] |
//! | subgraphs, multi-agent handoffs | [`subgraph`] |
//! | long-term memory across threads | [`store`] |
//! | cached results of nodes | [`cache`] |
//! | one async function as a graph | [`workflow`] |
//! | typed state machines | [`machine`] |
//! | limits of stored data | [`limits`] |
//! | errors | [`Error`], [`ErrorKind`], [`NodeError`] |
//!
//! # Testing
//!
//! A node is a function, so a unit test calls it directly:
//!
//! - [`GraphState::started`] makes a state from an input.
//! - [`Context::detached`] and [`ContextWith::detached`] make a context, [`View::of`](derive@StateView) a view.
//! - [`GraphState::updated`] applies the returned update, with reducers and validation rules.
//! - [`Context::answering`] supplies answers for a node that interrupts. Without one the node waits for ever, unless the
//!   test uses [`Context::until_interrupt`] to get the question.
//!
//! # Features
//!
//! All features are off by default.
//!
//! | feature | effect |
//! |---|---|
//! | `encryption` | encryption at rest around any checkpointer: `checkpoint::EncryptedCheckpointer`, with `chacha20poly1305` |
//! | `schema` | JSON Schema of state, input and output, with `schemars` |
//! | `tracing` | spans of runs, supersteps and nodes for any `tracing` subscriber, named by OpenTelemetry's conventions where they exist; spans never contain a value of the state |
//! | `email`, `url`, `pattern` | these validation rules, with the crates that implement them |

pub mod cache;
pub mod checkpoint;
pub mod durable;
mod engine;
mod error;
pub mod graph;
pub mod interrupt;
pub mod limits;
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
#[doc(hidden)]
pub mod attributes;
mod drawing;
mod erased;
mod options;
mod step;

pub use engine::{Context, ContextWith};
pub use error::{AwaitedAnswer, Error, ErrorKind, NodeFailure, UnfinishedSuperstep, WiringProblem};
pub use error::{NodeError, Result};
pub use graph::builder::StateGraph;
pub use graph::graph::Graph;
pub use interrupt::outcome::Outcome;
pub use node::object::{Node, PacketNode};
pub use options::{DEFAULT_RECURSION_LIMIT, Durability, FailureMode, Metadata};
pub use state::change::Overwrite;
pub use state::field::Field;
pub use state::graph_state::GraphState;
pub use step::Route;
pub use step::{END, START, named};
pub use stream::event::{Event, EventKind};
pub use stream::mode::StreamMode;
#[doc = include_str!("../docs/graph_state.md")]
pub use superstep_derive::GraphState;
#[doc = include_str!("../docs/route.md")]
pub use superstep_derive::Route;
#[doc = include_str!("../docs/state_update.md")]
pub use superstep_derive::StateUpdate;
#[doc = include_str!("../docs/state_view.md")]
pub use superstep_derive::StateView;

pub(crate) use superstep_store::contain;
