use std::any::Any;
use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::state::GraphState;

use super::event::EventKind;
use super::event::serialize_kind;

/// An event of a subgraph whose state type differs from that of the streamed graph.
///
/// Events of a subgraph with the same state type have the usual [kinds](crate::EventKind). In both cases the event's
/// [namespace](crate::Event::namespace) names the subgraph.
#[derive(Clone)]
pub struct SubgraphEvent(Arc<dyn ErasedEvent>);

/// The kind of an event, without its state type.
pub(crate) trait ErasedEvent: Any + Send + Sync {
    fn name(&self) -> &'static str;
    fn node(&self) -> Option<&str>;
    fn task(&self) -> Option<usize>;
    fn to_json(&self) -> Result<Map<String, Value>, serde_json::Error>;
}

impl<S: GraphState> ErasedEvent for EventKind<S> {
    fn name(&self) -> &'static str {
        self.name()
    }

    fn node(&self) -> Option<&str> {
        self.node()
    }

    fn task(&self) -> Option<usize> {
        self.task()
    }

    fn to_json(&self) -> Result<Map<String, Value>, serde_json::Error> {
        let mut json = Vec::new();
        let mut serializer = serde_json::Serializer::new(&mut json);
        serialize_kind(self, &mut serializer)?;
        // Text keeps numbers that a `Value` cannot hold exactly, but only a `Value` may be nested deeper than 127 levels.
        serde_json::from_slice(&json).or_else(|error| {
            match serialize_kind(self, serde_json::value::Serializer) {
                Ok(Value::Object(entries)) => Ok(entries),
                _ => Err(error),
            }
        })
    }
}

impl SubgraphEvent {
    pub(crate) fn new(event: Box<dyn ErasedEvent>) -> Self {
        Self(Arc::from(event))
    }

    /// Returns the kind of the event, if the subgraph's state type is `C`.
    pub fn kind<C: GraphState>(&self) -> Option<&EventKind<C>> {
        let any: &(dyn Any + Send + Sync) = &*self.0;
        any.downcast_ref()
    }

    /// Returns the name of the kind in JSON.
    pub fn name(&self) -> &'static str {
        self.0.name()
    }

    /// Returns the node that the event belongs to, if any.
    pub fn node(&self) -> Option<&str> {
        self.0.node()
    }

    pub(super) fn task(&self) -> Option<usize> {
        self.0.task()
    }

    pub(super) fn to_json(&self) -> Result<Map<String, Value>, serde_json::Error> {
        self.0.to_json()
    }
}

impl fmt::Debug for SubgraphEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SubgraphEvent::{}", self.name())
    }
}
