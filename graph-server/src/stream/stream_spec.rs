use crate::protocol::{Object, StreamMode};

/// The events that a client wants of a run, and the names that they contain.
#[derive(Clone, Debug, Default)]
pub(crate) struct StreamSpec {
    pub(crate) modes: Vec<StreamMode>,
    /// `true` to include the events of subgraphs.
    pub(crate) subgraphs: bool,
    pub(crate) run_id: String,
    pub(crate) thread_id: String,
    pub(crate) assistant_id: String,
    pub(crate) graph_id: String,
    /// The metadata of the run.
    pub(crate) metadata: Object,
}

impl StreamSpec {
    pub(crate) fn wants(&self, mode: StreamMode) -> bool {
        self.modes.contains(&mode)
    }

    /// Returns the kinds of events that the run has to send.
    pub(crate) fn events(&self) -> Vec<superstep::StreamMode> {
        use superstep::StreamMode as Core;
        let mut events = Vec::new();
        for mode in &self.modes {
            events.extend_from_slice(match mode {
                StreamMode::Values => &[Core::Values],
                StreamMode::Updates => &[Core::Updates],
                StreamMode::Custom => &[Core::Custom],
                // The messages of the first state are not new. A node may return messages that it has not streamed.
                StreamMode::Messages | StreamMode::MessagesTuple => {
                    &[Core::Messages, Core::Updates, Core::Values, Core::Tasks]
                }
                StreamMode::Tasks => &[Core::Tasks, Core::Updates, Core::Values, Core::Interrupts],
                StreamMode::Checkpoints => &[Core::Checkpoints, Core::Values],
                StreamMode::Debug => {
                    &[Core::Tasks, Core::Updates, Core::Values, Core::Interrupts, Core::Checkpoints]
                }
                StreamMode::Tools => &[Core::Tasks, Core::Updates, Core::Values],
                StreamMode::Events => &[Core::Tasks, Core::Updates, Core::Values, Core::Messages],
            });
        }
        let all = superstep::StreamMode::ALL;
        all.into_iter().filter(|mode| events.contains(mode)).collect()
    }
}
