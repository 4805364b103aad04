//! A question is declared that no checkpoint can hold.

use superstep::interrupt::Question;

struct Approve;

impl Question for Approve {
    type Answer = bool;
}

fn main() {}
