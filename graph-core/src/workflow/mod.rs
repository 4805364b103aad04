//! Workflows: one async function as a graph, with durable steps, questions, and the result of the run before.
//!
//! Where what happens next is best said by `if`, `for` and `await`, there is no need for nodes and edges: the function *is* the
//! graph. What must be done once is a [step](crate::Context::step).
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
//!     let text = cx.step("draft", draft(topic)).await?; // once, however often the function runs
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
//! // Later, perhaps in another process: the function runs again from its top, and goes on with the answer.
//! let question = thread.interrupts().await?.only::<Approve>()?;
//! let essay = thread.resume(question.answer(true)).await?.value()?;
//! assert_eq!(essay, Essay { text: "all about cats".to_owned(), approved: true });
//! # Ok(())
//! # }
//! ```
//!
//! # The function
//!
//! It takes, in any order and each at most once:
//!
//! | parameter | what it is |
//! |---|---|
//! | `&T` | what the run begins with: any type with serde's `Serialize` and `Deserialize`; `&str` for a `String`, `&[T]` for a `Vec`. Without it, runs begin with `()` |
//! | `Option<&T>` | the previous result on the thread: what the function has returned, or [kept](Final), when it ran last; `None` the first time and in a run without a thread |
//! | `&Context` | the run: [steps](crate::Context::step), [questions](crate::Context::interrupt), [sleeps](crate::Context::sleep), events, the long-term store |
//! | `&ContextWith<D>` | the same with a context, for [`Workflow::with_context`] |
//!
//! It returns a `Result` of any such type, or of a [`Final`].
//!
//! # What a run of it is
//!
//! [`compile`](Workflow::compile) makes a [`Graph`](crate::Graph) of one node over the state [`Flow`]. So it runs in memory or on
//! [threads](crate::thread), is resumed, replayed and forked, streamed, drawn, or put into another graph as a
//! [mapped](crate::subgraph) node, as any graph is. There are no further checkpoints within the function: what it has done so far
//! is what its steps have.

mod flow;
mod function;
mod held;
mod outcome;
mod previous;
mod returned;
mod signature;
#[expect(clippy::module_inception, reason = "a type lives in the file of its name")]
mod workflow;

pub use flow::{Flow, FlowInput, FlowUpdate};
#[doc(hidden)]
pub use held::{Given, Left};
pub use previous::LeavesBehind;
#[doc(hidden)]
pub use previous::{IsPrevious, Previous, PreviousText};
pub use returned::{Final, Finishes, Returned};
#[doc(hidden)]
pub use signature::{Alone, RunsAlone, Taken};
pub use signature::{Gives, Takes};
pub use workflow::Workflow;
