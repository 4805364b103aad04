/// A group of event kinds that a caller can choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StreamMode {
    /// [`EventKind::Values`](crate::EventKind::Values).
    Values,
    /// [`EventKind::Update`](crate::EventKind::Update).
    Updates,
    /// [`EventKind::Custom`](crate::EventKind::Custom).
    Custom,
    /// [`EventKind::Message`](crate::EventKind::Message).
    Messages,
    /// [`EventKind::TaskStarted`](crate::EventKind::TaskStarted),
    /// [`EventKind::StepFinished`](crate::EventKind::StepFinished),
    /// [`EventKind::TaskFinished`](crate::EventKind::TaskFinished),
    /// [`EventKind::TaskRetry`](crate::EventKind::TaskRetry),
    /// [`EventKind::TaskHandled`](crate::EventKind::TaskHandled),
    /// [`EventKind::TaskNotCached`](crate::EventKind::TaskNotCached) and
    /// [`EventKind::TaskFailed`](crate::EventKind::TaskFailed).
    Tasks,
    /// [`EventKind::Interrupt`](crate::EventKind::Interrupt).
    Interrupts,
    /// [`EventKind::Checkpoint`](crate::EventKind::Checkpoint).
    Checkpoints,
}

impl StreamMode {
    /// All modes.
    pub const ALL: [Self; 7] = [
        Self::Values,
        Self::Updates,
        Self::Custom,
        Self::Messages,
        Self::Tasks,
        Self::Interrupts,
        Self::Checkpoints,
    ];
}
