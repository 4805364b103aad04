//! Shows human in the loop: a node interrupts the run with a question, and another process answers it later.
//! Run with `cargo run -p examples --bin 12_approval`.
//!
//! Question and answer are typed. An answer carries the id of its interrupt, so a second click cannot answer the next question.

use std::path::Path;

use serde::{Deserialize, Serialize};
use superstep::interrupt::Question;
use superstep::thread::PersistentGraph;
use superstep::{Context, END, ErrorKind, GraphState, Outcome, Result, START, StateGraph};
use superstep_sqlite::SqliteCheckpointer;

#[derive(GraphState, Clone, Debug)]
struct Order {
    #[state(input)]
    item: String,
    #[state(input)]
    price: u32,
    bought: bool,
    note: String,
}

#[derive(Serialize, Deserialize)]
struct Approve {
    item: String,
    price: u32,
}

impl Question for Approve {
    type Answer = Decision;
}

#[derive(Serialize, Deserialize)]
enum Decision {
    Yes,
    No { reason: String },
}

async fn buy(order: &Order, cx: &Context) -> OrderUpdate {
    // The run pauses here. On resume, the node runs again from its start, and `interrupt` returns the answer.
    match cx.interrupt(Approve { item: order.item.clone(), price: order.price }).await {
        Decision::Yes => Order::update().bought(true),
        Decision::No { reason } => Order::update().note(reason),
    }
}

/// Opens the graph with its checkpointer, as each process does.
fn open_shop(file: &Path) -> Result<PersistentGraph<Order>> {
    let graph = StateGraph::<Order>::new().edge(START, buy).edge(buy, END).compile()?;
    Ok(graph.with_checkpointer(SqliteCheckpointer::open(file)?))
}

/// The first process: takes the orders.
async fn take_orders(file: &Path) -> Result<()> {
    for (name, item, price) in [("order-1", "teapot", 40), ("order-2", "boat", 9_000)] {
        let outcome = open_shop(file)?.thread(name).run(Order::input(item, price)).await?;
        let Outcome::Interrupted(pause) = outcome else { unreachable!("every order needs an approval") };
        assert_eq!(pause.only::<Approve>()?.price, price);
    }
    Ok(())
}

/// The second process: decides about an order.
async fn decide(file: &Path, name: &str) -> Result<Order> {
    let thread = open_shop(file)?.thread(name);
    let question = thread.interrupts().await?.only::<Approve>()?;
    println!("{name}: buy a {} for {}?", question.item, question.price);
    let decision = if question.price < 100 {
        Decision::Yes
    } else {
        Decision::No { reason: format!("{} is too much for a {}", question.price, question.item) }
    };
    let answer = question.answer(decision);
    let order = thread.resume(answer.clone()).await?.into_state();

    let Err(error) = thread.resume(answer).await else { unreachable!("the interrupt was answered before") };
    println!("  second click: {error}");
    assert!(matches!(error.kind(), ErrorKind::InterruptNotOpen { .. }));
    Ok(order)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("orders.db");
    take_orders(&file).await?;
    assert!(decide(&file, "order-1").await?.bought);
    let refused = decide(&file, "order-2").await?;
    assert_eq!((refused.bought, refused.note.as_str()), (false, "9000 is too much for a boat"));
    Ok(())
}
