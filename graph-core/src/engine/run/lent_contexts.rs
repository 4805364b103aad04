use std::sync::OnceLock;

use crate::engine::at::At;
use crate::engine::context::{ErasedContext, ErasedContexts};

/// The contexts of the tasks that run on one thread. Each is lent to one task after the other, until one keeps it, because it is
/// pending or has used the scratch state.
///
/// A fan-out of tasks that are ready at once makes a single context. Another one would count up and down two shared pointers.
///
/// The future of a task has to be dropped before the next task gets its context: a borrow that lasts longer would see the
/// position of the next one.
pub(super) struct LentContexts<'c> {
    of_run: &'c dyn ErasedContext,
    first: Box<dyn ErasedContext>,
    /// The contexts after the first one is kept.
    others: OnceLock<Box<dyn ErasedContexts>>,
}

impl<'c> LentContexts<'c> {
    pub(super) fn new(of_run: &'c dyn ErasedContext) -> Self {
        Self { of_run, first: of_run.at(of_run.at.get()), others: OnceLock::new() }
    }

    /// Returns a context for a task, after this number of contexts that are kept. `rest` are the positions of this task
    /// and of all that have not begun.
    #[inline]
    pub(super) fn of(
        &self,
        at: At,
        kept: usize,
        rest: impl FnOnce() -> Vec<At>,
    ) -> Option<&dyn ErasedContext> {
        let ctx = match kept.checked_sub(1) {
            None => Some(&*self.first),
            Some(nth) => self.others.get_or_init(|| self.of_run.at_each(&rest())).nth(nth),
        };
        ctx.inspect(|ctx| ctx.at.move_to(at))
    }
}
