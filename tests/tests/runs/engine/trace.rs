//! The state, nodes and runtimes that the tests of the engine share.

use std::sync::Mutex;

use superstep::{Context, Graph, GraphState};

#[derive(GraphState, Clone, Debug)]
pub(crate) struct Trace {
    /// Entries of the form `superstep:node`, or custom ones.
    #[state(reducer = append)]
    pub(crate) log: Vec<String>,
    pub(crate) value: u32,
}

pub(crate) fn say(text: impl Into<String>) -> TraceUpdate {
    Trace::update().log([text.into()])
}

pub(crate) fn ran(cx: &Context) -> TraceUpdate {
    say(format!("{}:{}", cx.superstep(), cx.node()))
}

/// Defines nodes that only log their execution.
macro_rules! nodes {
    ($($name:ident)*) => {$(
        async fn $name(_: &$crate::engine::trace::Trace, cx: &superstep::Context) -> $crate::engine::trace::TraceUpdate {
            $crate::engine::trace::ran(cx)
        }
    )*};
}
pub(crate) use nodes;

/// Runs a graph on this thread and returns its log, or the error.
pub(crate) fn log_of(graph: &Graph<Trace>) -> String {
    match block_on(graph.run(Trace::input())) {
        Ok(outcome) => outcome.into_state().log.join(" "),
        Err(error) => error.to_string(),
    }
}

/// Runs a future on a current-thread runtime with a paused clock, which advances when nothing is ready.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(future)
}

/// A multi-thread runtime.
pub(crate) fn workers(count: usize) -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(count).enable_time().build().unwrap()
}

/// An application context in which nodes record their actions in real order.
#[derive(Default)]
pub(crate) struct Journal(Mutex<Vec<String>>);

impl Journal {
    pub(crate) fn note(&self, text: impl Into<String>) {
        self.0.lock().unwrap().push(text.into());
    }

    /// Returns `true` if the text was recorded since the last `take`.
    pub(crate) fn has(&self, text: &str) -> bool {
        self.0.lock().unwrap().iter().any(|noted| noted == text)
    }

    /// Returns and clears the records.
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}
