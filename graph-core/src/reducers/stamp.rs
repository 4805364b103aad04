/// The identity of a write, from which [`Reducer::prepare`](super::Reducer::prepare) may derive stable ids.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Stamp<'a> {
    /// The thread; `None` for a run without one.
    pub thread: Option<&'a str>,
    /// The superstep.
    pub step: u64,
    /// The node's name; `START` for a run's input and for the update of a resume.
    pub node: &'a str,
    /// The task's index in its superstep.
    pub index: usize,
    /// The write's index in the task's update.
    pub write: usize,
}

impl<'a> Stamp<'a> {
    /// Creates a stamp for the first write of the task at `index` of superstep `step`.
    pub fn new(node: &'a str, step: u64, index: usize) -> Self {
        Self { thread: None, step, node, index, write: 0 }
    }
}
