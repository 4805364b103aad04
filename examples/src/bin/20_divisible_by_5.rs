//! Shows a state machine without a state: nodes pass data to each other, and the last one returns the output.
//! Run with `cargo run -p examples --bin 20_divisible_by_5`.

use serde::{Deserialize, Serialize};
use superstep::machine::{End, Machine, To, to};

#[derive(Machine)]
#[machine(nodes(DivisibleBy5, Increment), output = i64)]
struct Fives;

#[derive(Serialize, Deserialize)]
struct DivisibleBy5(i64);

impl DivisibleBy5 {
    async fn run(&self) -> To<Fives, (Increment, End<i64>)> {
        if self.0 % 5 == 0 { to(End(self.0)) } else { to(Increment(self.0)) }
    }
}

#[derive(Serialize, Deserialize)]
struct Increment(i64);

impl Increment {
    async fn run(&self) -> DivisibleBy5 {
        DivisibleBy5(self.0 + 1)
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> superstep::Result<()> {
    println!("{}", Fives::compile()?.run(DivisibleBy5(4)).await?.ended()?.output);
    Ok(())
}
