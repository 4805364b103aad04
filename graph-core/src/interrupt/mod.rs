//! Questions to people: what a node asks, where the run stops, and how it is answered.
//!
//! A node asks with [`Context::interrupt`](crate::Context::interrupt). Without an answer its task is suspended, the run ends with
//! [`Outcome::Interrupted`](crate::Outcome::Interrupted), and the [`Pause`] in it has the questions. Once they are answered
//! the node runs again from its top, and then each question that was answered gives its answer at once. What must not run
//! twice goes into [`Context::step`](crate::Context::step).

mod answer;
mod mismatch;
mod open_interrupt;
mod pause;
mod question;

pub use answer::{Answer, TypedInterrupt};
pub use mismatch::InterruptMismatch;
pub use open_interrupt::OpenInterrupt;
pub use pause::Pause;
pub use question::Question;

pub use crate::engine::{Attempted, DurableStep, DurableSteps, Interrupt, Sleep};
