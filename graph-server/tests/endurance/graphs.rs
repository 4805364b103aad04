//! The graphs of the tests.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use superstep::{Context, ContextWith, END, Graph, GraphState, Result, Route, START, StateGraph, bail};
use tokio::sync::Semaphore;

#[derive(GraphState, Clone)]
pub(crate) struct Echo {
    #[state(input)]
    pub(crate) text: String,
    #[state(reducer = append)]
    pub(crate) log: Vec<String>,
}

async fn echo_node(echo: &Echo) -> Result<EchoUpdate> {
    if echo.text == "boom" {
        bail!("boom");
    }
    Ok(Echo::update().log([echo.text.clone()]))
}

pub(crate) fn echo() -> Graph<Echo> {
    StateGraph::<Echo>::new().edge(START, echo_node).edge(echo_node, END).compile().expect("echo")
}

#[derive(GraphState, Clone)]
pub(crate) struct Flood {
    /// The number of events.
    #[state(input)]
    pub(crate) events: u64,
    /// The bytes of each.
    #[state(input)]
    pub(crate) bytes: usize,
}

async fn pour(flood: &Flood, cx: &Context) -> FloodUpdate {
    let filler = "x".repeat(flood.bytes);
    for n in 0..flood.events {
        cx.emit(serde_json::json!([n, filler])).await;
    }
    Flood::update()
}

/// Emits many large events.
pub(crate) fn flood() -> Graph<Flood> {
    StateGraph::<Flood>::new().edge(START, pour).edge(pour, END).compile().expect("flood")
}

#[derive(GraphState, Clone)]
pub(crate) struct Steps {
    #[state(input)]
    pub(crate) left: u64,
}

#[derive(Route)]
enum Next {
    #[to(step)]
    Again,
    #[to(END)]
    Finished,
}

async fn step(steps: &Steps) -> (StepsUpdate, Next) {
    let left = steps.left.saturating_sub(1);
    (Steps::update().left(left), if left == 0 { Next::Finished } else { Next::Again })
}

/// Makes a checkpoint for each step.
pub(crate) fn steps() -> Graph<Steps> {
    StateGraph::<Steps>::new().edge(START, step).compile().expect("steps")
}

/// Lets tasks pass.
#[derive(Clone)]
pub(crate) struct Gate(Arc<Semaphore>);

impl Gate {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Semaphore::new(0)))
    }

    pub(crate) fn open(&self, passes: usize) {
        self.0.add_permits(passes);
    }
}

/// The context of [`wait`].
#[derive(Clone)]
pub(crate) struct Waiting {
    pub(crate) gate: Gate,
    pub(crate) active: Arc<AtomicUsize>,
}

/// A task that is active until it ends or is dropped.
struct Active(Arc<AtomicUsize>);

impl Drop for Active {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

async fn wait_node(echo: &Echo, cx: &ContextWith<Waiting>) -> EchoUpdate {
    let Waiting { gate, active } = cx.context();
    active.fetch_add(1, Ordering::SeqCst);
    let _active = Active(Arc::clone(active));
    if let Ok(pass) = gate.0.acquire().await {
        pass.forget();
    }
    Echo::update().log([echo.text.clone()])
}

/// Waits at the gate.
pub(crate) fn wait() -> Graph<Echo, Waiting> {
    let graph = StateGraph::<Echo>::with_context::<Waiting>();
    graph.edge(START, wait_node).edge(wait_node, END).compile().expect("wait")
}
