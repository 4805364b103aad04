//! A node asks a person, and the run stops until there is an answer: minutes or days later, in this process or another.
//!
//! Question and answer are types. The answer carries the question's id, so that a second click never answers the next one.

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
    No { because: String },
}

async fn buy(order: &Order, cx: &Context) -> OrderUpdate {
    // Stops here. With the answer the node runs again from its top, and this line gives it at once.
    match cx.interrupt(Approve { item: order.item.clone(), price: order.price }).await {
        Decision::Yes => Order::update().bought(true),
        Decision::No { because } => Order::update().note(because),
    }
}

/// What every process does first.
fn shop(file: &Path) -> Result<PersistentGraph<Order>> {
    let graph = StateGraph::<Order>::new().edge(START, buy).edge(buy, END).compile()?;
    Ok(graph.with_checkpointer(SqliteCheckpointer::open(file)?))
}

/// One process takes the orders.
async fn clerk(file: &Path) -> Result<()> {
    for (name, item, price) in [("order-1", "tea", 4), ("order-2", "boat", 9_000)] {
        let outcome = shop(file)?.thread(name).run(Order::input(item, price)).await?;
        let Outcome::Interrupted(pause) = outcome else { unreachable!("every order is asked about") };
        assert_eq!(pause.only::<Approve>()?.price, price);
    }
    Ok(())
}

/// Another answers.
async fn manager(file: &Path, name: &str) -> Result<Order> {
    let thread = shop(file)?.thread(name);
    let question = thread.interrupts().await?.only::<Approve>()?;
    println!("{name}: {} for {}?", question.item, question.price);
    let decision = if question.price < 100 {
        Decision::Yes
    } else {
        Decision::No { because: format!("{} is too much for a {}", question.price, question.item) }
    };
    let answer = question.answer(decision);
    let order = thread.resume(answer.clone()).await?.into_state();

    let Err(error) = thread.resume(answer).await else { unreachable!("it has been answered") };
    println!("  clicked twice: {error}");
    assert!(matches!(error.kind(), ErrorKind::InterruptNotOpen { .. }));
    Ok(order)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("orders.db");
    clerk(&file).await?;
    assert!(manager(&file, "order-1").await?.bought);
    let refused = manager(&file, "order-2").await?;
    assert_eq!((refused.bought, refused.note.as_str()), (false, "9000 is too much for a boat"));
    Ok(())
}
