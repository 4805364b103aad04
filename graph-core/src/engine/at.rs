/// The position of a task in its run.
#[derive(Clone, Copy, Debug)]
pub struct At {
    pub(crate) node: usize,
    pub(crate) task: usize,
    pub(crate) step: u64,
    pub(crate) remaining: u64,
    pub(crate) attempt: u32,
    /// `true` if the task's update is cached as its node returned it, before the first phase of the reducers.
    pub(crate) is_cached: bool,
}
