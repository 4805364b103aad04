use superstep::Result;
use superstep::machine::{End, Machine};
use serde::{Deserialize, Serialize};

#[derive(Machine)]
#[machine(nodes(Check, Increment), output = i64)]
struct Fives;

#[derive(Serialize, Deserialize)]
struct Check(i64);

impl Check {
    fn run(&self) -> Result<End<i64>> {
        Ok(End(self.0))
    }
}

#[derive(Serialize, Deserialize)]
struct Increment(i64);

impl Increment {
    fn run(&self) -> Check {
        Check(self.0 + 1)
    }
}

fn main() {}
// mistakes: 2
