//! Shows time travel: replaying an old checkpoint, forking it with an update, and updating a thread in place of a node.
//! Run with `cargo run -p examples --bin 14_time_travel`.
//!
//! The checkpoints of a thread form a tree. A replay or a fork adds a branch and leaves the old one unchanged.

use superstep::thread::as_node;
use superstep::{END, GraphState, Result, Route, START, StateGraph};
use superstep_sqlite::SqliteCheckpointer;

#[derive(GraphState, Clone, Debug)]
struct Joke {
    #[state(input)]
    topic: String,
    text: String,
    published: bool,
}

async fn write(joke: &Joke) -> JokeUpdate {
    Joke::update().text(format!("Why did the {} cross the road?", joke.topic))
}

#[derive(Route)]
enum Verdict {
    #[to(write)]
    Again,
    #[to(publish)]
    Good,
}

async fn review(joke: &Joke) -> Verdict {
    if joke.text.is_empty() { Verdict::Again } else { Verdict::Good }
}

async fn publish(_: &Joke) -> JokeUpdate {
    Joke::update().published(true)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let store = SqliteCheckpointer::open(folder.path().join("jokes.db"))?;
    let graph =
        StateGraph::<Joke>::new().edge(START, write).edge(write, review).edge(publish, END).compile()?;
    let thread = graph.with_checkpointer(store).thread("1");
    let first = thread.run(Joke::input("chicken")).await?.into_state();
    let history = thread.history().await?;
    let Some(written) = history.iter().find(|snapshot| snapshot.next.iter().any(|next| &**next == "review"))
    else {
        unreachable!("`review` was planned once")
    };

    // Replay: only the nodes after the checkpoint run again.
    let again = thread.at(written.id).run_again().await?.into_state();
    assert_eq!(again.text, first.text);

    // Fork: another text instead of the one that `write` wrote. The nodes after `write` are planned and run.
    thread.at(written.id).update(Joke::update().text("It didn't."), as_node(write)).await?;
    let forked = thread.resume(()).await?.into_state();
    assert_eq!((forked.text.as_str(), forked.published), ("It didn't.", true));

    // Update: a person acts in place of a node. For a node with a route, the update names the route to take.
    let update = Joke::update().text("");
    thread.update(update, as_node(review).with_route(Verdict::Again)).await?;
    let rewritten = thread.resume(()).await?.into_state();
    assert_eq!(rewritten.text, first.text);

    // All checkpoints of all branches.
    let all = thread.history().await?;
    for snapshot in &all {
        let text = snapshot.state.as_ref().map_or("", |state| state.text.as_str());
        let next = snapshot.next.join(", ");
        println!("{:>2} {:<6} next: {next:<8} {text}", snapshot.step, snapshot.source.name());
    }
    let old = thread.at(history.first().map_or(written.id, |head| head.id)).state().await?;
    assert_eq!(old.and_then(|old| old.state).map(|joke| joke.text), Some(first.text));
    Ok(())
}
