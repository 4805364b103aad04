use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

use crate::node::Packet;
use crate::plan::Task;

use super::with_causes;

/// How one node failed.
#[derive(Debug)]
#[non_exhaustive]
pub struct NodeFailure {
    /// The node's name; `START` for the route that leaves START.
    pub node: String,
    /// Its place in the superstep.
    pub task: usize,
    /// What it was sent.
    pub packet: Option<Packet>,
    /// The superstep in which it ran.
    pub step: u64,
    /// The how-manieth attempt it was, from 1.
    pub attempt: u32,
    /// What it failed with.
    pub error: Box<dyn StdError + Send + Sync>,
    /// Whether it panicked; `error` then holds the panic's message.
    pub panicked: bool,
    /// The failure that the node's error handler was asked about, where `error` is the handler's.
    pub handled: Option<Arc<NodeFailure>>,
    /// Whether `error` is no more than the text of what it was, read back from the store of a thread: the process has died
    /// between the failure and its handler.
    pub stored: bool,
}

impl NodeFailure {
    /// How a node failed in an attempt.
    pub(crate) fn new(
        node: &str,
        step: u64,
        attempt: u32,
        error: Box<dyn StdError + Send + Sync>,
        panicked: bool,
    ) -> Self {
        let node = node.to_owned();
        Self { node, task: 0, packet: None, step, attempt, error, panicked, handled: None, stored: false }
    }

    /// A failure that was read back: the text of its error.
    pub(crate) fn stored(node: &str, step: u64, attempt: u32, text: String, panicked: bool) -> Self {
        Self { stored: true, ..Self::new(node, step, attempt, text.into(), panicked) }
    }

    /// The error and its causes, in words.
    pub(crate) fn text(&self) -> String {
        match &self.handled {
            None => with_causes(&*self.error),
            Some(_) => with_causes(self),
        }
    }

    /// The same failure, of this task.
    pub(crate) fn of(self, index: usize, task: &Task) -> Self {
        Self { task: index, packet: task.packet.clone(), ..self }
    }
}

impl fmt::Display for NodeFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(first) = &self.handled {
            let Self { node, step, attempt, .. } = self;
            write!(
                f,
                "the error handler of node `{node}` failed in superstep {step}, when it was asked about attempt "
            )?;
            return write!(f, "{attempt}, which had failed with `{}`", first.error);
        }
        let what = if self.panicked { "panicked" } else { "failed" };
        write!(f, "node `{}` {what} in superstep {}, attempt {}", self.node, self.step, self.attempt)
    }
}

impl StdError for NodeFailure {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        Some(&*self.error)
    }
}

/// The message of a panic, as an error.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Panic(pub(crate) String);
