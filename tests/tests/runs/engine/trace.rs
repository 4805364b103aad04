//! The state and the nodes that tests of the engine share: every node notes when it ran.

use std::sync::Mutex;

use superstep::{Context, Graph, GraphState};

#[derive(GraphState, Clone, Debug)]
pub(crate) struct Trace {
    /// `superstep:node`, or what else a node has to say.
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

/// Nodes that do no more than note that they ran.
macro_rules! nodes {
    ($($name:ident)*) => {$(
        async fn $name(_: &$crate::engine::trace::Trace, cx: &superstep::Context) -> $crate::engine::trace::TraceUpdate {
            $crate::engine::trace::ran(cx)
        }
    )*};
}
pub(crate) use nodes;

/// Runs a graph to its end on this thread; what its nodes noted, or the error.
pub(crate) fn log_of(graph: &Graph<Trace>) -> String {
    match here(graph.run(Trace::input()).into_future()) {
        Ok(outcome) => outcome.into_state().log.join(" "),
        Err(error) => error.to_string(),
    }
}

/// Runs a future on a runtime of this thread, whose clock moves on when nothing else is left to do.
pub(crate) fn here<T>(future: impl Future<Output = T>) -> T {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(future)
}

/// A runtime with so many workers.
pub(crate) fn workers(count: usize) -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(count).enable_time().build().unwrap()
}

/// What really happened, in the order in which it happened: the context of graphs whose nodes write it down.
#[derive(Default)]
pub(crate) struct Journal(Mutex<Vec<String>>);

impl Journal {
    pub(crate) fn note(&self, text: impl Into<String>) {
        self.0.lock().unwrap().push(text.into());
    }

    /// Whether this was noted since everything was last taken.
    pub(crate) fn has(&self, text: &str) -> bool {
        self.0.lock().unwrap().iter().any(|noted| noted == text)
    }

    /// Everything noted since it was last asked.
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}
