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

/// An update that appends to the log.
pub fn say(text: impl Into<String>) -> StoryUpdate {
    Story::update().log([text.into()])
}

/// An input that appends to the log.
pub fn begin(text: &str) -> StoryInput {
    Story::input().log([text.to_owned()])
}

/// The world outside of threads, which outlives processes: the nodes that ran, and the nodes that fail.
#[derive(Debug, Default)]
pub struct World {
    ran: Mutex<Vec<String>>,
    broken: Mutex<Vec<&'static str>>,
}

impl World {
    /// Makes exactly these nodes fail from now on.
    pub fn breaks(&self, nodes: &[&'static str]) {
        *self.broken.lock().unwrap() = nodes.to_vec();
    }

    /// Notes a string.
    pub fn note(&self, text: impl Into<String>) {
        self.ran.lock().unwrap().push(text.into());
    }

    /// Returns all notes since the last call.
    pub fn ran(&self) -> String {
        std::mem::take(&mut *self.ran.lock().unwrap()).join(" ")
    }

    fn is_broken(&self, node: &str) -> bool {
        self.broken.lock().unwrap().contains(&node)
    }
}

/// Notes that a node runs, and fails if it is to fail.
pub async fn enter(cx: &ContextWith<World>, what: &str) -> Result<(), NodeError> {
    cx.context().note(what);
    if cx.context().is_broken(what) {
        // Siblings run first.
        for _ in 0..3 {
            tokio::task::yield_now().await;
        }
        return Err(NodeError::msg(format!("{what} is broken")));
    }
    Ok(())
}

/// A graph over the story.
pub fn story() -> StateGraph<Story, World> {
    StateGraph::<Story>::with_context::<World>()
}

/// Defines nodes that only record that they ran.
#[macro_export]
macro_rules! tellers {
    ($($name:ident)*) => {$(
        async fn $name(
            _: &$crate::story::Story,
            cx: &superstep::ContextWith<$crate::story::World>,
        ) -> superstep::Result<$crate::story::StoryUpdate> {
            $crate::story::enter(cx, stringify!($name)).await?;
            Ok($crate::story::say(stringify!($name)))
        }
    )*};
}
pub use crate::tellers;

/// The planned nodes of a snapshot.
pub fn next<S: GraphState>(snapshot: &Snapshot<S>) -> String {
    snapshot.next.iter().map(|next| &**next).collect::<Vec<_>>().join(" ")
}

/// The log as one string.
pub fn told(story: &Story) -> String {
    story.log.join(" ")
}
