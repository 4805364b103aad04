//! A state and nodes for tests of threads. Each node records that it ran, in the state and outside of it.

use std::sync::Mutex;

use superstep::thread::Snapshot;
use superstep::{ContextWith, GraphState, NodeError, StateGraph};

/// The state: a log and a value.
#[derive(GraphState, Clone, Debug, PartialEq)]
pub struct Story {
    /// The nodes that ran, in order.
    #[state(input, reducer = append)]
    pub log: Vec<String>,
    /// A field without a reducer.
    #[state(input)]
    pub value: Option<u32>,
}

/// Returns an update that appends to the log.
pub fn say(text: impl Into<String>) -> StoryUpdate {
    Story::update().log([text.into()])
}

/// Returns an input that appends to the log.
pub fn begin(text: &str) -> StoryInput {
    Story::input().log([text.to_owned()])
}

/// A test probe, shared by all runs of a test: it records the nodes that ran, and lets nodes fail.
#[derive(Debug, Default)]
pub struct Probe {
    ran: Mutex<Vec<String>>,
    failing: Mutex<Vec<&'static str>>,
}

impl Probe {
    /// Makes exactly these nodes fail from now on.
    pub fn set_failing(&self, nodes: &[&'static str]) {
        *self.failing.lock().unwrap() = nodes.to_vec();
    }

    /// Records a string.
    pub fn note(&self, text: impl Into<String>) {
        self.ran.lock().unwrap().push(text.into());
    }

    /// Returns everything recorded since the last call.
    pub fn ran(&self) -> String {
        std::mem::take(&mut *self.ran.lock().unwrap()).join(" ")
    }

    fn fails(&self, node: &str) -> bool {
        self.failing.lock().unwrap().contains(&node)
    }
}

/// Records that a node runs, and fails if the node is set to fail.
pub async fn enter(cx: &ContextWith<Probe>, node: &str) -> Result<(), NodeError> {
    cx.context().note(node);
    if cx.context().fails(node) {
        // Siblings run first.
        for _ in 0..3 {
            tokio::task::yield_now().await;
        }
        return Err(NodeError::msg(format!("{node} is broken")));
    }
    Ok(())
}

/// Returns an empty graph over [`Story`].
pub fn story() -> StateGraph<Story, Probe> {
    StateGraph::<Story>::with_context::<Probe>()
}

/// Defines nodes that only record that they ran.
#[macro_export]
macro_rules! recording_nodes {
    ($($name:ident)*) => {$(
        async fn $name(
            _: &$crate::story::Story,
            cx: &superstep::ContextWith<$crate::story::Probe>,
        ) -> superstep::Result<$crate::story::StoryUpdate> {
            $crate::story::enter(cx, stringify!($name)).await?;
            Ok($crate::story::say(stringify!($name)))
        }
    )*};
}
pub use crate::recording_nodes;

/// Returns the planned nodes of a snapshot.
pub fn next<S: GraphState>(snapshot: &Snapshot<S>) -> String {
    snapshot.next.iter().map(|next| &**next).collect::<Vec<_>>().join(" ")
}

/// Returns the log as one string.
pub fn log_of(story: &Story) -> String {
    story.log.join(" ")
}
