//! Workflows: one async function as a graph, with durable steps, interrupts, and access to the previous result.
//!
//! If a process is best written with `if`, `for` and `await`, it needs no nodes and edges: the function *is* the graph.
//! Put work that must not be repeated into a [step](crate::Context::step).
//!
//! ```
//! use superstep::checkpoint::MemoryCheckpointer;
//! use superstep::interrupt::Question;
//! use superstep::workflow::Workflow;
//! use superstep::{Context, Outcome, Result};
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
//! struct Essay {
//!     text: String,
//!     approved: bool,
//! }
//!
//! #[derive(Serialize, Deserialize)]
//! struct Approve {
//!     text: String,
//! }
//!
//! impl Question for Approve {
//!     type Answer = bool;
//! }
//!
//! async fn draft(topic: &str) -> Result<String> {
//!     Ok(format!("all about {topic}"))
//! }
//!
//! async fn essay(topic: &str, cx: &Context) -> Result<Essay> {
//!     let text = cx.step("draft", draft(topic)).await?; // once, even if the function runs again
//!     let approved = cx.interrupt(Approve { text: text.clone() }).await;
//!     Ok(Essay { text, approved })
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<()> {
//! let essays = Workflow::new(essay).compile()?.with_checkpointer(MemoryCheckpointer::new());
//! let thread = essays.thread("cats");
//! assert!(matches!(thread.run("cats").await?, Outcome::Interrupted(_)));
//!
//! // Later, perhaps in another process: the function runs again from its beginning and gets the answer.
//! let question = thread.interrupts().await?.only::<Approve>()?;
//! let essay = thread.resume(question.answer(true)).await?.value()?;
//! assert_eq!(essay, Essay { text: "all about cats".to_owned(), approved: true });
//! # Ok(())
//! # }
//! ```
//!
//! # The function
//!
//! The function takes these parameters, in any order and each at most once:
//!
//! | parameter | meaning |
//! |---|---|
//! | `&T` | the input of the run: any type with serde's `Serialize` and `Deserialize`; `&str` for a `String`, `&[T]` for a `Vec`. Without this parameter, the input is `()` |
//! | `Option<&T>` | the previous result on the thread: the value that the last run returned, or [saved](Final). `None` in the first run, and in a run without a thread |
//! | `&Context` | the run's context: [steps](crate::Context::step), [interrupts](crate::Context::interrupt), [sleeps](crate::Context::sleep), events, the long-term store |
//! | `&ContextWith<D>` | the same with an application context, for [`Workflow::with_context`] |
//!
//! It returns a `Result` of any such type, or of a [`Final`].
//!
//! # A workflow is a graph
//!
//! [`compile`](Workflow::compile) builds a [`Graph`](crate::Graph) of one node over the state [`Flow`]. Like any graph,
//! it runs in memory or on [threads](crate::thread), and can be resumed, replayed, forked, streamed and drawn. As a
//! [mapped](crate::subgraph) node it can be part of another graph.
//!
//! There are no checkpoints inside the function. Only the results of its steps are stored as it runs.

mod flow;
mod function;
mod outcome;
mod previous;
mod returned;
mod run_hint;
mod signature;
mod values;
#[expect(clippy::module_inception, reason = "a type lives in the file of its name")]
mod workflow;

pub use flow::{Flow, FlowInput, FlowUpdate};
#[doc(hidden)]
pub use previous::HasPrevious;
#[doc(hidden)]
pub use previous::{IsPrevious, Previous, PreviousText};
#[doc(hidden)]
pub use returned::WorkflowReturn;
pub use returned::{Final, WorkflowResult};
#[doc(hidden)]
pub use run_hint::WorkflowHint;
#[doc(hidden)]
pub use signature::{FunctionInput, FunctionOutput, InputPacket, OnlyFunction, OnlyNode, RunsAlone};
#[doc(hidden)]
pub use values::{Given, Left};
pub use workflow::Workflow;
