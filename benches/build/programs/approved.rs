//! An order and a graph of one node that asks a question. The run is printed as a stream, then resumed.

use superstep::checkpoint::MemoryCheckpointer;
use superstep::interrupt::Question;
use superstep::{Context, END, GraphState, Result, START, StateGraph};

#[derive(GraphState, Clone)]
struct Order {
    #[state(input)]
    item: String,
    total: u32,
    #[state(reducer = append)]
    log: Vec<String>,
}

#[derive(serde::Serialize, serde::Deserialize)]
struct Approve {
    total: u32,
}

impl Question for Approve {
    type Answer = bool;
}

async fn price(order: &Order, cx: &Context) -> OrderUpdate {
    let total = 40;
    let approved = cx.interrupt(Approve { total }).await;
    Order::update().total(total).log([format!("{} costs {total}: {approved}", order.item)])
}

pub async fn run() -> Result<()> {
    let graph = StateGraph::<Order>::new().edge(START, price).edge(price, END).compile()?;
    let graph = graph.with_checkpointer(MemoryCheckpointer::new());
    let thread = graph.thread("order-1");
    let mut events = thread.run(Order::input("tea")).stream();
    while let Some(event) = events.next().await {
        println!("{}", serde_json::to_string(&event?)?);
    }
    let question = thread.interrupts().await?.only::<Approve>()?;
    let outcome = thread.resume(question.answer(true)).await?;
    println!("{:?}", outcome.state().log);
    let snapshot = thread.state().await?;
    if let Some(order) = snapshot.and_then(|snapshot| snapshot.state) {
        println!("{} for {:?}", order.total, order.log);
    }
    Ok(())
}
