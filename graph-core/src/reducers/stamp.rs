/// Which write a reducer is preparing; everything a stable id may be derived from.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Stamp<'a> {
    /// The thread, when there is one.
    pub thread: Option<&'a str>,
    /// The superstep.
    pub step: u64,
    /// The node's name; `START` for a run's input, and for what a resumption writes before a superstep.
    pub node: &'a str,
    /// The task's place in its superstep.
    pub index: usize,
    /// The write's place in the task's update.
    pub write: usize,
}

impl<'a> Stamp<'a> {
    /// A stamp for the first write of the task at `index` of superstep `step`.
    pub fn new(node: &'a str, step: u64, index: usize) -> Self {
        Self { thread: None, step, node, index, write: 0 }
    }
}
