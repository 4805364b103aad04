use superstep::GraphState;
use superstep::machine::{End, Machine};
use serde::{Deserialize, Serialize};

#[derive(GraphState, Clone)]
struct Basket {
    #[state(input)]
    budget: u32,
}

#[derive(Machine)]
#[machine(nodes(Check), state = Basket, output = u32)]
struct Shop;

#[derive(Serialize, Deserialize)]
struct Check;

impl Check {
    async fn run(&self, basket: &Basket) -> End<u32> {
        End(basket.budget)
    }
}

fn main() {
    let _ = Shop::compile().unwrap().run(Check);
}
