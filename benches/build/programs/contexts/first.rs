//! An order and a graph of one node with an application context.

use superstep::checkpoint::MemoryCheckpointer;
use superstep::{ContextWith, END, GraphState, Result, START, StateGraph};

#[derive(GraphState, Clone)]
pub struct Order {
    #[state(input)]
    item: String,
    pub total: u32,
    #[state(reducer = append)]
    pub log: Vec<String>,
}

struct Prices {
    tea: u32,
}

async fn price(order: &Order, cx: &ContextWith<Prices>) -> OrderUpdate {
    let total = cx.context().tea;
    Order::update().total(total).log([format!("{} costs {total}", order.item)])
}

pub async fn run() -> Result<()> {
    let graph =
        StateGraph::<Order>::with_context::<Prices>().edge(START, price).edge(price, END).compile()?;
    let graph = graph.with_checkpointer(MemoryCheckpointer::new());
    let run = graph.thread("order-1").run(Order::input("tea"));
    let order = run.context(Prices { tea: 40 }).await?.into_state();
    println!("{} for {:?}", order.total, order.log);
    Ok(())
}
