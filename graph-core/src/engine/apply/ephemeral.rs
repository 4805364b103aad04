use crate::plan::Progress;

/// The last write of each ephemeral field. A field is cleared after a superstep that could read it has run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ephemerals(Vec<Alive>);

#[derive(Clone, Debug)]
struct Alive {
    field: usize,
    /// The superstep that wrote the field last; `None` while the field is clear.
    since: Option<u64>,
    /// `true` while a deferred node that was planned by the writing superstep may not have run.
    kept: bool,
}

impl Ephemerals {
    pub(crate) fn new(fields: &[usize]) -> Self {
        Self(fields.iter().map(|&field| Alive { field, since: None, kept: false }).collect())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the fields that are written and not cleared: the field, its last writer, and `true` if it waits for a
    /// deferred node.
    pub(crate) fn alive(&self) -> impl Iterator<Item = (usize, u64, bool)> {
        self.0.iter().filter_map(|alive| Some((alive.field, alive.since?, alive.kept)))
    }

    /// Restores a field that was written before this run.
    pub(crate) fn revive(&mut self, field: usize, since: u64, kept: bool) {
        for alive in self.0.iter_mut().filter(|alive| alive.field == field) {
            (alive.since, alive.kept) = (Some(since), kept);
        }
    }

    /// Returns the fields to clear when superstep `step` is applied: all tasks planned with the write have run,
    /// deferred tasks included.
    pub(crate) fn due(&self, step: u64, progress: &Progress) -> impl Iterator<Item = usize> {
        self.0.iter().filter_map(move |alive| {
            alive.since.filter(|&since| since < step)?;
            // Deferred nodes all run in the same superstep, so while one waits, all of them wait.
            (!alive.kept || progress.waiting.is_empty()).then_some(alive.field)
        })
    }

    /// Records the fields that superstep `step` has cleared and written.
    pub(crate) fn record_writes(&mut self, step: u64, cleared: &[usize], written: impl Fn(usize) -> bool) {
        for alive in &mut self.0 {
            if cleared.contains(&alive.field) {
                (alive.since, alive.kept) = (None, false);
            }
            if written(alive.field) {
                alive.since = Some(step);
            }
        }
    }

    /// Marks the fields that have to wait for a deferred node, after the successors of superstep `step` were planned.
    pub(crate) fn keep(&mut self, step: u64, progress: &Progress) {
        if progress.deferred_by == Some(step) {
            for alive in &mut self.0 {
                alive.kept |= alive.since == Some(step);
            }
        }
    }
}
