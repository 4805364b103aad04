use serde::{Deserialize, Serialize};
use superstep::machine::{End, Machine};

#[derive(Machine)]
#[machine(nodes(Check), output = i64)]
struct Fives;

#[derive(Serialize, Deserialize)]
struct Check(i64);

impl Check {
    fn run(&self) -> End<i64> {
        End(self.0)
    }
}

fn main() {}
