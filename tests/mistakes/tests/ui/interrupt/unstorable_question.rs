//! A question that cannot be stored in a checkpoint.

use superstep::interrupt::Question;

struct Approve;

impl Question for Approve {
    type Answer = bool;
}

fn main() {}
