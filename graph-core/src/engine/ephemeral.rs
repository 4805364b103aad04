use crate::plan::Progress;

/// When each ephemeral field was last written; a field is cleared once a superstep that could read it has run.
#[derive(Clone, Debug, Default)]
pub(super) struct Ephemerals(Vec<Alive>);

#[derive(Clone, Debug)]
struct Alive {
    field: usize,
    /// The superstep that wrote it; nothing while it is clear.
    since: Option<u64>,
}

impl Ephemerals {
    pub(super) fn new(fields: &[usize]) -> Self {
        Self(fields.iter().map(|&field| Alive { field, since: None }).collect())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The fields to clear when superstep `step` is applied: every task that was planned with them has run, deferred
    /// ones too.
    pub(super) fn due(&self, step: u64, progress: &Progress) -> impl Iterator<Item = usize> {
        self.0.iter().filter_map(move |alive| {
            let since = alive.since.filter(|&since| since < step)?;
            let awaited = progress.waiting.iter().any(|waiting| waiting.since == since);
            (!awaited).then_some(alive.field)
        })
    }

    /// Notes which fields superstep `step` has cleared and written.
    pub(super) fn settle(&mut self, step: u64, cleared: &[usize], written: impl Fn(usize) -> bool) {
        for alive in &mut self.0 {
            if written(alive.field) {
                alive.since = Some(step);
            } else if cleared.contains(&alive.field) {
                alive.since = None;
            }
        }
    }
}
