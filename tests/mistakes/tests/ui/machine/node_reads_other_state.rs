use superstep::machine::{End, Machine, To, to};
use serde::{Deserialize, Serialize};

#[derive(Machine)]
#[machine(nodes(Check, Increment), output = i64)]
struct Fives;

#[derive(Serialize, Deserialize)]
struct Increment(i64);

impl Increment {
    async fn run(&self) -> Check {
        Check(self.0 + 1)
    }
}

#[derive(Serialize, Deserialize)]
struct Check(i64);

#[derive(superstep::GraphState, Clone)]
struct Other {
    total: i64,
}

impl Check {
    async fn run(&self, other: &Other) -> To<Fives, (Increment, End<i64>)> {
        to(End(other.total))
    }
}

fn main() {}
