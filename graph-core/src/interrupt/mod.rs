//! Questions to people: what a node asks, where the run stops, and how it is answered.
//!
//! A node asks with [`Cx::interrupt`](crate::Cx::interrupt). Without an answer its task is suspended, the run ends with
//! [`Outcome::Interrupted`](crate::Outcome::Interrupted), and the [`Pause`] in it has the questions. Once they are answered
//! the node runs again from its top, and then each question that was answered gives its answer at once. What must not run
//! twice goes into [`Cx::step`](crate::Cx::step).

mod answer;
mod not_asked;
mod open_question;
mod pause;
mod question;
mod storable;

pub use answer::{Answer, Asked};
pub use not_asked::NotAsked;
pub use open_question::OpenQuestion;
pub use pause::Pause;
pub use question::Question;
pub use storable::Storable;

pub use crate::engine::{Attempted, DurableStep, DurableSteps, Interrupt, Sleep};
