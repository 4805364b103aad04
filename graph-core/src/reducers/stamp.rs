/// The origin of a write, for [`Reducer::prepare`](super::Reducer::prepare).
///
/// Two writes can have the same origin: a superstep that runs again, on another branch or in a thread that was created
/// anew, has the same stamps. Use [`unique_id`](Self::unique_id) for ids.
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

    /// Creates an id of 26 lower-case letters and digits. Each call returns a different one.
    ///
    /// The id is unique over threads, branches and processes, and cannot be guessed. `prepare` runs once for each
    /// write and its result is stored, so an id that is part of the delta stays the same after a crash.
    pub fn unique_id(&self) -> String {
        ulid::Ulid::generate().to_string().to_ascii_lowercase()
    }
}
