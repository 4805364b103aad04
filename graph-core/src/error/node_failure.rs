use std::error::Error as StdError;
use std::fmt;

use crate::node::Packet;
use crate::plan::Task;

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
}

impl NodeFailure {
    /// The same failure, of this task.
    pub(crate) fn of(self, index: usize, task: &Task) -> Self {
        Self { task: index, packet: task.packet.clone(), ..self }
    }
}

impl fmt::Display for NodeFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
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
