//! An order and a graph of one node, run on a thread.

use superstep::checkpoint::MemoryCheckpointer;
use superstep::{END, GraphState, Result, START, StateGraph};

#[derive(GraphState, Clone)]
struct Order {
    #[state(input)]
    item: String,
    total: u32,
    #[state(reducer = append)]
    log: Vec<String>,
}

async fn price(order: &Order) -> OrderUpdate {
    let total = 40;
    Order::update().total(total).log([format!("{} costs {total}", order.item)])
}

pub async fn run() -> Result<()> {
    let graph = StateGraph::<Order>::new().edge(START, price).edge(price, END).compile()?;
    let graph = graph.with_checkpointer(MemoryCheckpointer::new());
    let order = graph.thread("order-1").run(Order::input("tea")).await?.into_state();
    println!("{} for {:?}", order.total, order.log);
    Ok(())
}
