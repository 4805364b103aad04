use crate::events::LoggedEvent;
use crate::protocol::StreamMode;

/// A list of events, with their namespace.
pub(super) struct Out<'o> {
    pub(super) events: &'o mut Vec<LoggedEvent>,
    pub(super) namespace: &'o str,
}

impl Out<'_> {
    /// Appends an event. Its name ends with its namespace.
    pub(super) fn push(&mut self, mode: StreamMode, name: &str, data: String) {
        let name = match self.namespace {
            "" => name.to_owned(),
            namespace => format!("{name}|{namespace}"),
        };
        self.events.push(LoggedEvent::new(Some(mode), name, data));
    }
}
