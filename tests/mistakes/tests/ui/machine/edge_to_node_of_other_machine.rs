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

#[derive(Serialize, Deserialize)]
struct Refund;

impl Check {
    async fn run(&self) -> To<Fives, (Increment, Refund, End<i64>)> {
        match self.0 % 5 {
            0 => to(End(self.0)),
            1 => to(Increment(self.0)),
            _ => to(Refund),
        }
    }
}

fn main() {}
