//! A machine without a state that counts up to the next multiple of 5.

use serde::{Deserialize, Serialize};
use superstep::machine::{End, Machine, To, to};

#[derive(Machine)]
#[machine(nodes(DivisibleBy5, Increment), output = i64)]
pub(crate) struct Fives;

#[derive(Serialize, Deserialize, Debug, PartialEq)]
pub(crate) struct DivisibleBy5(pub(crate) i64);

impl DivisibleBy5 {
    async fn run(&self) -> To<Fives, (Increment, End<i64>)> {
        if self.0 % 5 == 0 { to(End(self.0)) } else { to(Increment { foo: self.0 }) }
    }
}

#[derive(Serialize, Deserialize, Debug, PartialEq)]
pub(crate) struct Increment {
    pub(crate) foo: i64,
}

impl Increment {
    async fn run(&self) -> DivisibleBy5 {
        DivisibleBy5(self.foo + 1)
    }
}
