use std::any::Any;
use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::state::GraphState;

use super::event::EventKind;
use super::event::entries;

/// What happened in a subgraph whose state is another than that of the graph that is streamed.
///
/// The events of one with the same state are like the graph's own; both say by the event's
/// [namespace](crate::Event::namespace) where they are from.
#[derive(Clone)]
pub struct SubgraphEvent(Arc<dyn Passed>);

/// An event of a run within another.
pub(crate) trait Passed: Any + Send + Sync {
    fn name(&self) -> &'static str;
    fn node(&self) -> Option<&str>;
    fn task(&self) -> Option<usize>;
    fn to_json(&self) -> Result<Map<String, Value>, serde_json::Error>;
}

impl<S: GraphState> Passed for EventKind<S> {
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
        entries(self, &mut serializer)?;
        serde_json::from_slice(&json)
    }
}

impl SubgraphEvent {
    pub(crate) fn new(event: Box<dyn Passed>) -> Self {
        Self(Arc::from(event))
    }

    /// What happened, if the subgraph's state is a `C`.
    pub fn kind<C: GraphState>(&self) -> Option<&EventKind<C>> {
        let any: &(dyn Any + Send + Sync) = &*self.0;
        any.downcast_ref()
    }

    /// The name that what happened has in JSON.
    pub fn name(&self) -> &'static str {
        self.0.name()
    }

    /// The node that it is about.
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
