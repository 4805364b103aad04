//! Shows policies for nodes that fail or hang: retries for certain errors, an idle timeout with heartbeats, and an error handler.
//! Run with `cargo run -p examples --bin 25_policies`.

use std::time::Duration;

use superstep::policy::{Policy, Retry, TimedOut};
use superstep::{Context, END, GraphState, NodeFailure, Result, Route, START, StateGraph};

#[derive(GraphState, Clone)]
struct Film {
    #[state(reducer = append)]
    log: Vec<String>,
}

fn log(entry: impl Into<String>) -> FilmUpdate {
    Film::update().log([entry.into()])
}

#[derive(Debug, thiserror::Error)]
#[error("the server returned status {0}")]
struct Status(u16);

const MS: Duration = Duration::from_millis(1);

/// The server is busy during the first two attempts.
async fn fetch(_: &Film, cx: &Context) -> Result<FilmUpdate> {
    if cx.attempt() < 3 {
        return Err(Status(503).into());
    }
    Ok(log(format!("fetched in attempt {}", cx.attempt())))
}

/// The first attempt hangs. The second takes longer than the idle timeout, but sends heartbeats.
async fn convert(_: &Film, cx: &Context) -> FilmUpdate {
    if cx.attempt() == 1 {
        std::future::pending::<()>().await;
    }
    for _scene in 0..8 {
        tokio::time::sleep(50 * MS).await;
        cx.heartbeat();
    }
    log(format!("converted in attempt {}", cx.attempt()))
}

async fn publish(_: &Film) -> Result<FilmUpdate> {
    Err(Status(403).into())
}

#[derive(Route)]
enum Fallback {
    #[to(archive)]
    Archive,
}

/// The error handler of `publish`. Its result replaces the result of `publish`.
async fn refused(_: &Film, failure: &NodeFailure) -> (FilmUpdate, Fallback) {
    (
        log(format!("{} failed in attempt {}: {}", failure.node, failure.attempt, failure.error)),
        Fallback::Archive,
    )
}

async fn archive(_: &Film) -> FilmUpdate {
    log("archived")
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    // Conditions on typed errors: a busy server is retried, a refusal is not.
    let busy = Retry::attempts(3).backoff(10 * MS).when(|error: &Status| error.0 >= 500);
    let hangs =
        Retry::attempts(2).backoff(10 * MS).when(|late: &TimedOut| matches!(late, TimedOut::Idle { .. }));
    let graph = StateGraph::<Film>::new()
        .edge(START, fetch)
        .edge(fetch, convert)
        .edge(convert, publish)
        .edge(publish, END)
        .edge(archive, END)
        .default_policy(Policy::new().retry(busy))
        .policy(convert, Policy::new().idle_timeout(300 * MS).retry(hangs))
        .on_error(publish, refused)
        .compile()?;

    let film = graph.run(Film::input()).await?.into_state();
    println!("{}", film.log.join("\n"));
    let refused = "publish failed in attempt 1: the server returned status 403";
    assert_eq!(film.log, ["fetched in attempt 3", "converted in attempt 2", refused, "archived"]);
    Ok(())
}
