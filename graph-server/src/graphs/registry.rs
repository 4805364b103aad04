use std::collections::BTreeMap;
use std::sync::Arc;

use super::AnyGraph;

/// The graphs of a server, by their ids.
#[derive(Clone)]
pub(crate) struct Graphs(Arc<BTreeMap<Arc<str>, Arc<dyn AnyGraph>>>);

impl Graphs {
    pub(crate) fn new(graphs: BTreeMap<Arc<str>, Arc<dyn AnyGraph>>) -> Self {
        Self(Arc::new(graphs))
    }

    pub(crate) fn find(&self, id: &str) -> Option<&Arc<dyn AnyGraph>> {
        self.0.get(id)
    }

    /// Returns the ids as text, for errors.
    pub(crate) fn names(&self) -> String {
        self.0.keys().map(|id| format!("`{id}`")).collect::<Vec<_>>().join(", ")
    }

    /// Returns the ids and the graphs, in the order of the ids.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Arc<str>, &Arc<dyn AnyGraph>)> {
        self.0.iter()
    }
}
