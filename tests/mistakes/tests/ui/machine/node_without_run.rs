use superstep::machine::Machine;
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

fn main() {}
