use serde::{Deserialize, Serialize};
use superstep::interrupt::Question;

#[derive(Serialize, Deserialize)]
struct Approve;

struct Verdict;

impl Question for Approve {
    type Answer = Verdict;
}

fn main() {}
