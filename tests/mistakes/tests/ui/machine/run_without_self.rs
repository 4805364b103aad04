use superstep::machine::{End, Machine};
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

impl Check {
    async fn run() -> End<i64> {
        End(5)
    }
}

fn main() {}
