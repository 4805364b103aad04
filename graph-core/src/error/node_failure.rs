use std::borrow::Cow;
use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

use crate::contain::display_text;
use crate::erased::Packet;

use super::with_causes;

/// The failure of one node.
#[derive(Debug)]
#[non_exhaustive]
pub struct NodeFailure {
    /// The node's name; `START` for the route that leaves START.
    pub node: String,
    /// The index of its task in the superstep.
    pub task: usize,
    /// The packet that it was sent, if any.
    pub packet: Option<Packet>,
    /// The superstep in which it ran.
    pub step: u64,
    /// The attempt number, from 1.
    pub attempt: u32,
    /// The node's error.
    pub error: Box<dyn StdError + Send + Sync>,
    /// `true` if the node panicked. `error` then holds the panic's message.
    pub panicked: bool,
    /// The failure that was passed to the node's error handler, if `error` comes from the handler.
    pub handled: Option<Arc<NodeFailure>>,
    /// `true` if `error` was read back from a checkpoint and holds only the message of the original error. This happens if
    /// the process died between the failure and its error handler.
    pub stored: bool,
    /// The name of the type of the node's error.
    pub(crate) error_type: Option<Cow<'static, str>>,
}

impl NodeFailure {
    /// Creates the failure of a node's attempt with an error of this type, or with a panic.
    pub(crate) fn new(
        node: &str,
        step: u64,
        attempt: u32,
        error: Box<dyn StdError + Send + Sync>,
        error_type: impl Into<Option<Cow<'static, str>>>,
    ) -> Self {
        Self {
            node: node.to_owned(),
            task: 0,
            packet: None,
            step,
            attempt,
            error,
            panicked: false,
            handled: None,
            stored: false,
            error_type: error_type.into(),
        }
    }

    /// Returns the name of the type of the node's error, as [`NodeError::type_name`](crate::NodeError::type_name) does.
    ///
    /// It stays the same when the failure is read back from a checkpoint. `None` for a panic, and for a failure that an
    /// older version of this library has stored.
    pub fn error_type(&self) -> Option<&str> {
        self.error_type.as_deref()
    }

    /// Formats the error and its causes.
    pub(crate) fn text(&self) -> String {
        match &self.handled {
            None => with_causes(&*self.error),
            Some(_) => with_causes(self),
        }
    }

    /// Sets the task that failed, and its packet.
    pub(crate) fn of(self, task: usize, packet: Option<&Packet>) -> Self {
        Self { task, packet: packet.cloned(), ..self }
    }
}

impl fmt::Display for NodeFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(first) = &self.handled {
            let Self { node, step, attempt, .. } = self;
            write!(
                f,
                "the error handler of node `{node}` failed in superstep {step}, after attempt {attempt} of the node had "
            )?;
            return write!(f, "failed with `{}`", display_text(&*first.error));
        }
        let verb = if self.panicked { "panicked" } else { "failed" };
        write!(f, "node `{}` {verb} in superstep {}, attempt {}", self.node, self.step, self.attempt)
    }
}

impl StdError for NodeFailure {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        Some(&*self.error)
    }
}
