use std::fmt;

use superstep::checkpoint::CheckpointId;
use uuid::Uuid;

/// The id of an event of a run: `epoch.n`, and the position of the run. The epoch is the number of times that a server has
/// executed the run, and `n` counts its events from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct EventId {
    pub(crate) epoch: u64,
    pub(crate) n: u64,
    /// `None` before the first state.
    pub(crate) position: Option<Position>,
}

/// The part of a run that its events have shown. A server that does not have these events any more continues from there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Position {
    /// The checkpoint of the latest state.
    pub(crate) checkpoint: CheckpointId,
    /// The number of the checkpoint's tasks that have finished since. From [`STOPPED`](Self::STOPPED) on, the number of events
    /// that say why the run has stopped.
    pub(crate) tasks: u32,
}

impl Position {
    /// More than the tasks of any superstep.
    pub(crate) const STOPPED: u32 = 1 << 31;

    /// Returns the number of events about the end of the run that a client has seen.
    pub(crate) fn end_events(self) -> usize {
        usize::try_from(self.tasks.saturating_sub(Self::STOPPED)).unwrap_or_default()
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.epoch, self.n)?;
        match self.position {
            Some(Position { checkpoint, tasks }) => {
                let checkpoint = Uuid::from_bytes(checkpoint.to_bytes());
                write!(f, ".{}.{tasks}", checkpoint.simple())
            }
            None => Ok(()),
        }
    }
}

impl EventId {
    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('.');
        let (epoch, n) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        let position = match (parts.next(), parts.next()) {
            (Some(checkpoint), Some(tasks)) => Some(Position {
                checkpoint: CheckpointId::from_bytes(Uuid::try_parse(checkpoint).ok()?.into_bytes()),
                tasks: tasks.parse().ok()?,
            }),
            _ => None,
        };
        Some(Self { epoch, n, position })
    }
}

/// The `Last-Event-ID` of a client that comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Resume {
    /// The client has seen nothing, and wants every event.
    All,
    /// The client has seen everything up to this event.
    After(EventId),
    /// Only the events from now on.
    Now,
}

impl Resume {
    /// Reads the header. An id that no server of this kind has given stands for all events.
    pub(crate) fn parse(header: Option<&str>) -> Self {
        let Some(text) = header.map(str::trim).filter(|text| !text.is_empty()) else { return Self::Now };
        EventId::parse(text).map_or(Self::All, Self::After)
    }

    /// Returns the number of the first event that the client wants from a log of this epoch, or `None` for what follows.
    pub(super) fn first(self, epoch: u64) -> Option<u64> {
        match self {
            Self::All => Some(1),
            // Events of an earlier epoch were those of a process that has ended.
            Self::After(id) if id.epoch < epoch => Some(1),
            Self::After(id) => Some(id.n.saturating_add(1)),
            Self::Now => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(header: &str, first_in_2: Option<u64>) {
        assert_eq!(Resume::parse(Some(header)).first(2), first_in_2, "{header}");
    }

    #[test]
    fn headers_choose_the_first_event() {
        check("-1", Some(1));
        check("0-0", Some(1));
        check("1700000000000-4", Some(1));
        check("2.7", Some(8));
        check("1.7", Some(1));
        check("2.18446744073709551615", Some(u64::MAX));
        check("2.7.0123456789abcdef0123456789abcdef.3", Some(8));
        check("", None);
        assert_eq!(Resume::parse(None), Resume::Now);
    }

    #[test]
    fn ids_are_read_as_they_are_written() {
        for text in ["1.2", "1.2.0123456789abcdef0123456789abcdef.3"] {
            let Resume::After(id) = Resume::parse(Some(text)) else { panic!("{text} is an id") };
            assert_eq!(id.to_string(), text);
        }
    }
}
