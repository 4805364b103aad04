//! Shows how a person corrects a thread: a wrong run is rolled back, and a wrong value is edited while the thread waits.
//! Run with `cargo run -p examples --bin 27_corrections`.
//!
//! A roll back leaves nothing of the wrong run, unlike a fork. An edit with `keep_plan()` runs nothing and discards nothing.

use serde::{Deserialize, Serialize};
use superstep::interrupt::Question;
use superstep::thread::{Thread, keep_plan};
use superstep::{Context, END, ErrorKind, GraphState, Result, START, StateGraph};
use superstep_sqlite::SqliteCheckpointer;

#[derive(GraphState, Clone, Debug)]
struct Account {
    #[state(input)]
    employee: String,
    /// The expense that is checked now.
    #[state(input)]
    cents: u64,
    #[state(reducer = add)]
    paid: u64,
}

#[derive(Serialize, Deserialize)]
struct Approve {
    employee: String,
    cents: u64,
}

impl Question for Approve {
    type Answer = bool;
}

async fn approve(account: &Account, cx: &Context) -> AccountUpdate {
    let question = Approve { employee: account.employee.clone(), cents: account.cents };
    let approved = cx.interrupt(question).await;
    Account::update().paid(if approved { account.cents } else { 0 })
}

async fn print(title: &str, thread: &Thread<Account>) -> Result<()> {
    let Some(at) = thread.state().await? else { unreachable!("the thread has run") };
    let paid = at.state.as_ref().map_or(0, |account| account.paid);
    println!("{title:<22} {paid:>6} cents paid, next: {:?}", at.next);
    Ok(())
}

/// Removes a run and everything after it.
async fn take_back(thread: &Thread<Account>, run: &str) -> Result<()> {
    let Some(shown) = thread.state().await? else { unreachable!("the thread has run") };
    // The newest checkpoint comes first. The run follows the parent of its oldest one; `None` rolls back everything.
    let Some(first) = thread.history().run_id(run).await?.pop() else { return Ok(()) };
    // If someone has written to the thread since it was shown, nothing is removed.
    thread.roll_back_to(first.parent).if_epoch(shown.epoch).await?;
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let store = SqliteCheckpointer::open(folder.path().join("accounts.db"))?;
    let graph = StateGraph::<Account>::new().edge(START, approve).edge(approve, END).compile()?;
    let thread = graph.with_checkpointer(store).thread("ann");

    // A run that is right.
    thread.run(Account::input("ann", 1_200_u64)).run_id("lunch").await?;
    let lunch = thread.interrupts().await?.only::<Approve>()?;
    thread.resume(lunch.answer(true)).await?;
    print("lunch is approved", &thread).await?;

    // A run that is wrong: a person has approved the expense of another person.
    thread.run(Account::input("bob", 90_000_u64)).run_id("boat").await?;
    let boat = thread.interrupts().await?.only::<Approve>()?;
    thread.resume(boat.answer(true)).await?;
    print("boat is approved", &thread).await?;

    take_back(&thread, "boat").await?;
    print("boat is taken back", &thread).await?;
    assert!(thread.history().run_id("boat").await?.is_empty());

    // A run with a wrong value: 5000 was meant, 50000 was typed. The thread waits for an answer.
    thread.run(Account::input("ann", 50_000_u64)).run_id("hotel").await?;
    let shown = thread.interrupts().await?.only::<Approve>()?;
    thread.update(Account::update().cents(5_000_u64), keep_plan()).await?;
    print("hotel is corrected", &thread).await?;

    // The node asks again, with the new value. An answer to the question that showed the old one is refused.
    thread.resume(()).await?;
    let Err(error) = thread.resume(shown.answer(true)).await else {
        unreachable!("the question has changed")
    };
    assert!(matches!(error.kind(), ErrorKind::InterruptNotOpen { changed: true, .. }));
    let hotel = thread.interrupts().await?.only::<Approve>()?;
    assert_eq!(hotel.cents, 5_000);

    let account = thread.resume(hotel.answer(true)).await?.into_state();
    print("hotel is approved", &thread).await?;
    assert_eq!((account.employee.as_str(), account.paid), ("ann", 6_200));
    Ok(())
}
