use std::any::Any;
use std::fmt;
use std::sync::{Arc, OnceLock};

use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use crate::erased::json_of;

use super::raw::{RawEvent, RawKind, TaskEvent};
use super::shown::ShownEvent;

/// An event of a subgraph whose state type differs from that of the streamed graph.
///
/// Events of a subgraph with the same state type have the usual [kinds](crate::EventKind). In both cases the event's
/// [namespace](crate::Event::namespace) names the subgraph.
#[derive(Clone)]
pub struct SubgraphEvent(Arc<Event>);

struct Event {
    raw: RawEvent,
    /// The event with its type; created when it is first asked for.
    typed: OnceLock<Option<Box<dyn Any + Send + Sync>>>,
}

impl SubgraphEvent {
    pub(crate) fn new(raw: RawEvent) -> Self {
        Self(Arc::new(Event { raw, typed: OnceLock::new() }))
    }

    /// Returns the event as it was sent.
    pub(super) fn raw(&self) -> &RawEvent {
        &self.0.raw
    }

    /// Returns the event as a `T`, which is created when it is first asked for; `None` if it is of another type.
    pub(super) fn typed<T: Send + Sync + 'static>(
        &self,
        make: impl FnOnce(&RawEvent) -> Option<T>,
    ) -> Option<&T> {
        let Event { raw, typed } = &*self.0;
        let make = || make(raw).map(|typed| Box::new(typed) as Box<dyn Any + Send + Sync>);
        typed.get_or_init(make).as_ref()?.downcast_ref()
    }

    /// Returns the name of the kind in JSON.
    pub fn name(&self) -> &'static str {
        self.0.raw.shown().name()
    }

    /// Returns the node that the event belongs to, if any.
    pub fn node(&self) -> Option<&str> {
        self.0.raw.shown().of.map(|(node, _)| node)
    }

    /// Returns the index of the task that the event belongs to, if any.
    pub fn task(&self) -> Option<usize> {
        self.0.raw.shown().of.map(|(_, task)| task)
    }

    pub(crate) fn to_json(&self) -> Result<Map<String, Value>, serde_json::Error> {
        let raw = &self.0.raw;
        let data = match &raw.kind {
            RawKind::Values(state) => Some(state.to_json()?),
            RawKind::Task { event: TaskEvent::Update { writes, .. }, .. } => Some(
                writes.as_erased().map_or_else(|| Ok(Value::Array(Vec::new())), |writes| writes.to_json())?,
            ),
            _ => None,
        };
        struct Shown<'s>(ShownEvent<'s>, Option<Value>);
        impl Serialize for Shown<'_> {
            fn serialize<Ser: Serializer>(&self, serializer: Ser) -> Result<Ser::Ok, Ser::Error> {
                let mut map = serializer.serialize_map(None)?;
                self.0.write_head(&mut map)?;
                if let Some(data) = &self.1 {
                    map.serialize_entry("data", data)?;
                }
                self.0.write_rest(&mut map)?;
                map.end()
            }
        }
        match json_of(&Shown(raw.shown(), data))? {
            Value::Object(entries) => Ok(entries),
            _ => Ok(Map::new()),
        }
    }
}

impl fmt::Debug for SubgraphEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SubgraphEvent::{}", self.name())
    }
}
