//! Interrupts: a node asks a question, the run pauses, and an answer resumes it (human in the loop).
//!
//! A node asks with [`Context::interrupt`](crate::Context::interrupt). If there is no answer yet, its task is suspended, and the
//! run ends with [`Outcome::Interrupted`](crate::Outcome::Interrupted). The [`Pause`] in that outcome holds the questions.
//!
//! After the answer, the node runs again from its top, and answered questions return their answers at once. Code that must not
//! run twice belongs in a [`Context::step`](crate::Context::step).

mod answer;
mod answer_json;
mod checkpoint_value;
mod evolution;
mod mismatch;
mod open_interrupt;
pub(crate) mod outcome;
mod pause;
mod question;
mod question_type;
mod schema;
mod typed_interrupt;

pub use answer::Answer;
pub(crate) use answer_json::AnswerJson;
pub use checkpoint_value::CheckpointValue;
pub(crate) use evolution::{is_same_question, valid_answer};
pub use mismatch::InterruptMismatch;
pub use open_interrupt::OpenInterrupt;
pub(crate) use open_interrupt::{EarlierForm, EarlierForms};
pub use pause::Pause;
pub use question::{MigratedJson, Question};
pub(crate) use question_type::{QuestionType, QuestionTypeOf};
pub use typed_interrupt::TypedInterrupt;

pub use crate::engine::{Attempted, Interrupt, TimedInterrupt};
