//! A node asks, the run stops, and goes on with the answer.

mod alone;
mod asking;
mod breakpoints;
mod cancellation;
mod ids;
mod on_threads;
mod siblings;
mod steps;
mod streams;
mod withdrawn;

use serde::{Deserialize, Serialize};
use superstep::interrupt::Question;
use superstep::run::Stepper;
use superstep::{GraphState, Result};

use crate::engine::trace::here;

/// What nodes that ask have come to know.
#[derive(GraphState, Clone, Debug)]
pub(crate) struct Talk {
    #[state(reducer = append)]
    pub(crate) heard: Vec<String>,
    pub(crate) round: u32,
}

pub(crate) fn heard(text: impl Into<String>) -> TalkUpdate {
    Talk::update().heard([text.into()])
}

/// A question to which the answer is yes or no.
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

/// A question to which the answer is a text.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
pub(crate) struct Name;

impl Question for Name {
    type Answer = String;
}

/// Steps until nothing is left to run, or the run has stopped.
pub(crate) async fn until_stopped<D: Send + Sync + 'static>(run: &mut Stepper<Talk, D>) -> Result<()> {
    while run.step().await? {}
    Ok(())
}

/// Runs a test on this thread.
pub(crate) fn told<T>(test: impl Future<Output = Result<T>>) -> T {
    here(test).unwrap()
}

/// What a durable step that cannot fail comes to.
pub(crate) fn fine<T>(value: T) -> Result<T> {
    Ok(value)
}
