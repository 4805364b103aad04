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
    async fn run(&self) -> To<Fives, (Increment, End<i64>)> {
        to(End(self.0))
    }
}

fn main() {
    let fives = Fives::compile().unwrap();
    let _ = fives.run(Refund);
    let _ = fives.picture().highlight(Fives::node::<Refund>());
}
// mistakes: 2
