/// The progress of a superstep with pending tasks, as an error describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnfinishedSuperstep {
    /// The nodes of the finished tasks, whose results are not applied yet.
    pub finished: Vec<String>,
    /// The open interrupts of the pending tasks. Other pending tasks wait for no answer.
    pub waiting: Vec<AwaitedAnswer>,
}

/// An open interrupt of a pending task, as an error names it.
///
/// [`Thread::interrupts`](crate::thread::Thread::interrupts) returns the question itself.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AwaitedAnswer {
    /// The node of the pending task. For a question inside a subgraph, the subgraph's node.
    pub node: String,
    /// The id of the interrupt.
    pub id: String,
    /// The name of the question's type; see [`Question::name`](crate::interrupt::Question::name).
    pub question: String,
}

impl AwaitedAnswer {
    /// Creates the description of an open interrupt.
    pub fn new(node: impl Into<String>, id: impl Into<String>, question: impl Into<String>) -> Self {
        Self { node: node.into(), id: id.into(), question: question.into() }
    }
}
