use serde::{Deserialize, Serialize};
use superstep::machine::{End, Machine};

#[derive(Machine)]
#[machine(node(Check), output = i64)]
struct Fives;

#[derive(Serialize, Deserialize)]
struct Check(i64);

impl Check {
    async fn run(&self) -> End<i64> {
        End(self.0)
    }
}

fn main() {}
