//! Interrupts, answers, breakpoints and durable steps.

mod breakpoints;
mod cancellation;
mod dropped_questions;
mod durable_steps;
mod node_unit_tests;
mod question_ids;
mod questions;
mod siblings;
mod streams;
mod threads;

use serde::{Deserialize, Serialize};
use superstep::interrupt::Question;
use superstep::run::Stepper;
use superstep::{GraphState, Result};

use crate::engine::trace::block_on;

#[derive(GraphState, Clone, Debug)]
pub(crate) struct Talk {
    #[state(reducer = append)]
    pub(crate) heard: Vec<String>,
    pub(crate) round: u32,
}

pub(crate) fn heard(text: impl Into<String>) -> TalkUpdate {
    Talk::update().heard([text.into()])
}

/// A yes-or-no question.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
pub(crate) struct Approve {
    pub(crate) what: String,
}

impl Question for Approve {
    type Answer = bool;
}

pub(crate) fn approve(what: &str) -> Approve {
    Approve { what: what.to_owned() }
}

/// A question whose answer is a string.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
pub(crate) struct Name;

impl Question for Name {
    type Answer = String;
}

/// Steps until the run finishes or stops.
pub(crate) async fn until_stopped<D: Send + Sync + 'static>(run: &mut Stepper<Talk, D>) -> Result<()> {
    while run.step().await? {}
    Ok(())
}

/// Runs a fallible test on this thread.
pub(crate) fn run_test<T>(test: impl Future<Output = Result<T>>) -> T {
    block_on(test).unwrap()
}

/// The result of a durable step that cannot fail.
pub(crate) fn ok<T>(value: T) -> Result<T> {
    Ok(value)
}
