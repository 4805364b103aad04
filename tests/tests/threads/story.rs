//! The state and the nodes that tests of threads share: each node says in the state, and notes outside of it, that it ran.

use std::sync::Mutex;

use superstep::thread::Snapshot;
use superstep::{ContextWith, GraphState, NodeError, StateGraph};

#[derive(GraphState, Clone, Debug, PartialEq)]
pub(crate) struct Story {
    #[state(input, reducer = append)]
    pub(crate) log: Vec<String>,
    #[state(input)]
    pub(crate) value: Option<u32>,
}

pub(crate) fn say(text: impl Into<String>) -> StoryUpdate {
    Story::update().log([text.into()])
}

pub(crate) fn begin(text: &str) -> StoryInput {
    Story::input().log([text.to_owned()])
}

/// What is outside of threads and outlives processes: which nodes ran, and which are broken.
#[derive(Default)]
pub(crate) struct World {
    ran: Mutex<Vec<String>>,
    broken: Mutex<Vec<&'static str>>,
}

impl World {
    /// Lets these nodes fail from now on, and no others.
    pub(crate) fn breaks(&self, nodes: &[&'static str]) {
        *self.broken.lock().unwrap() = nodes.to_vec();
    }

    pub(crate) fn note(&self, text: impl Into<String>) {
        self.ran.lock().unwrap().push(text.into());
    }

    /// Everything noted since it was last asked.
    pub(crate) fn ran(&self) -> String {
        std::mem::take(&mut *self.ran.lock().unwrap()).join(" ")
    }

    fn is_broken(&self, node: &str) -> bool {
        self.broken.lock().unwrap().contains(&node)
    }
}

/// What every node does first.
pub(crate) async fn enter(cx: &ContextWith<World>, what: &str) -> Result<(), NodeError> {
    cx.context().note(what);
    if cx.context().is_broken(what) {
        // Siblings that have something to do come first.
        for _ in 0..3 {
            tokio::task::yield_now().await;
        }
        return Err(NodeError::msg(format!("{what} is broken")));
    }
    Ok(())
}

pub(crate) fn story() -> StateGraph<Story, World> {
    StateGraph::<Story>::with_context::<World>()
}

/// Nodes that do no more than to say that they ran.
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
pub(crate) use tellers;

/// The planned nodes of a snapshot.
pub(crate) fn next<S: GraphState>(snapshot: &Snapshot<S>) -> String {
    snapshot.next.iter().map(|next| &**next).collect::<Vec<_>>().join(" ")
}

pub(crate) fn told(story: &Story) -> String {
    story.log.join(" ")
}
