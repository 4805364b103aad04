//! Shows a state machine with a state, whose nodes ask questions at the terminal.
//! Run with `cargo run -p examples --bin 21_vending_machine`.
//!
//! Without a terminal the default answers in brackets are used. To ask a person elsewhere, use `cx.interrupt(..)` and run the machine
//! on a thread.

use std::io::{IsTerminal as _, stdin, stdout};

use serde::{Deserialize, Serialize};
use superstep::machine::{End, Machine, To, to};
use superstep::{GraphState, Result};

const PRICES: [(&str, f64); 4] = [("water", 1.25), ("soda", 1.50), ("crisps", 1.75), ("chocolate", 2.00)];

#[derive(GraphState, Clone)]
struct Till {
    #[state(reducer = add)]
    balance: f64,
    product: Option<String>,
}

#[derive(Machine)]
#[machine(nodes(InsertCoin, CoinsInserted, SelectProduct, Purchase), state = Till)]
struct VendingMachine;

fn ask(prompt: &str, default: &str) -> String {
    println!("{prompt} [{default}]");
    let line = if stdout().is_terminal() { stdin().lines().next().and_then(Result::ok) } else { None };
    line.filter(|line| !line.is_empty()).unwrap_or_else(|| default.to_owned())
}

#[derive(Serialize, Deserialize)]
struct InsertCoin;

impl InsertCoin {
    async fn run(&self) -> Result<CoinsInserted> {
        Ok(CoinsInserted(ask("Insert coins", "1").parse()?))
    }
}

#[derive(Serialize, Deserialize)]
struct CoinsInserted(f64);

impl CoinsInserted {
    async fn run(&self, till: &Till) -> (TillUpdate, To<VendingMachine, (SelectProduct, Purchase)>) {
        let next = till.product.clone().map_or(to(SelectProduct), |product| to(Purchase(product)));
        (Till::update().balance(self.0), next)
    }
}

#[derive(Serialize, Deserialize)]
struct SelectProduct;

impl SelectProduct {
    async fn run(&self) -> Purchase {
        Purchase(ask("Select product", "crisps"))
    }
}

#[derive(Serialize, Deserialize)]
struct Purchase(String);

impl Purchase {
    async fn run(&self, till: &Till) -> (TillUpdate, To<VendingMachine, (End, InsertCoin, SelectProduct)>) {
        let Some((_, price)) = PRICES.into_iter().find(|(name, _)| *name == self.0) else {
            println!("There is no {}, try again", self.0);
            return (Till::update(), to(SelectProduct));
        };
        let update = Till::update().product(self.0.clone());
        if till.balance >= price {
            return (update.balance(-price), to(End(())));
        }
        println!("Not enough money for {}: insert {:.2} more", self.0, price - till.balance);
        (update, to(InsertCoin))
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let till = VendingMachine::compile()?.run(InsertCoin).await?.ended()?.state;
    println!("Sold: {}, change: {:.2}", till.product.unwrap_or_default(), till.balance);
    Ok(())
}
