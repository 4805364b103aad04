/// The position of a task in its run.
#[derive(Clone, Copy, Debug)]
pub struct At {
    pub(super) node: usize,
    pub(super) task: usize,
    pub(super) step: u64,
    pub(super) remaining: u64,
    pub(super) attempt: u32,
    /// `true` if the task's update is cached as its node returned it, before the first phase of the reducers.
    pub(super) is_cached: bool,
}
