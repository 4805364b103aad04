use crate::plan::Progress;

/// When each ephemeral field was last written; a field is cleared once a superstep that could read it has run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ephemerals(Vec<Alive>);

#[derive(Clone, Debug)]
struct Alive {
    field: usize,
    /// The superstep that wrote it last; nothing while it is clear.
    since: Option<u64>,
    /// A deferred node that was planned by a superstep that wrote it has not run yet, as long as any waits.
    kept: bool,
}

impl Ephemerals {
    pub(super) fn new(fields: &[usize]) -> Self {
        Self(fields.iter().map(|&field| Alive { field, since: None, kept: false }).collect())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The fields that have been written and not cleared: each with when, and whether it waits for a deferred node.
    pub(super) fn alive(&self) -> impl Iterator<Item = (usize, u64, bool)> {
        self.0.iter().filter_map(|alive| Some((alive.field, alive.since?, alive.kept)))
    }

    /// Takes up a field that was written before.
    pub(super) fn revive(&mut self, field: usize, since: u64, kept: bool) {
        for alive in self.0.iter_mut().filter(|alive| alive.field == field) {
            (alive.since, alive.kept) = (Some(since), kept);
        }
    }

    /// The fields to clear when superstep `step` is applied: every task that was planned with them has run, deferred
    /// ones too.
    pub(super) fn due(&self, step: u64, progress: &Progress) -> impl Iterator<Item = usize> {
        self.0.iter().filter_map(move |alive| {
            alive.since.filter(|&since| since < step)?;
            // Deferred nodes all run together: while one waits, they all do.
            (!alive.kept || progress.waiting.is_empty()).then_some(alive.field)
        })
    }

    /// Notes which fields superstep `step` has cleared and written.
    pub(super) fn settle(&mut self, step: u64, cleared: &[usize], written: impl Fn(usize) -> bool) {
        for alive in &mut self.0 {
            if cleared.contains(&alive.field) {
                (alive.since, alive.kept) = (None, false);
            }
            if written(alive.field) {
                alive.since = Some(step);
            }
        }
    }

    /// Notes which fields have to wait for a deferred node, once what follows superstep `step` is planned.
    pub(super) fn keep(&mut self, step: u64, progress: &Progress) {
        if progress.deferred_by == Some(step) {
            for alive in &mut self.0 {
                alive.kept |= alive.since == Some(step);
            }
        }
    }
}
