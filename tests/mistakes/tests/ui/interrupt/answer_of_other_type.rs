//! A yes-or-no question is answered with a string.

use superstep::interrupt::{Answer, TypedInterrupt, Question};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct Approve;

impl Question for Approve {
    type Answer = bool;
}

fn answer(asked: &TypedInterrupt<Approve>) -> Answer {
    asked.answer("yes")
}

fn main() {}
