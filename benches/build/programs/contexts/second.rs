//! Another graph over the order of `first`, with another application context.

use super::first::{Order, OrderUpdate};
use superstep::checkpoint::MemoryCheckpointer;
use superstep::{ContextWith, END, Result, START, StateGraph};

struct Taxes {
    percent: u32,
}

async fn tax(_: &Order, cx: &ContextWith<Taxes>) -> OrderUpdate {
    let tax = 40 * cx.context().percent / 100;
    Order::update().total(40 + tax).log([format!("{tax} for taxes")])
}

pub async fn run() -> Result<()> {
    let graph = StateGraph::<Order>::with_context::<Taxes>().edge(START, tax).edge(tax, END).compile()?;
    let graph = graph.with_checkpointer(MemoryCheckpointer::new());
    let run = graph.thread("order-1").run(Order::input("tea"));
    let order = run.context(Taxes { percent: 20 }).await?.into_state();
    println!("{} for {:?}", order.total, order.log);
    Ok(())
}
