//! Subgraphs that keep their state on the thread, at any depth below a graph.

/// The states that a subgraph node keeps on the thread.
#[derive(Debug, Default)]
pub struct KeptState {
    /// `true` if the node's own calls keep their state.
    pub(crate) keeps: bool,
    /// The reason why no state inside the node's calls can be kept, as the end of a sentence, with the cure.
    pub(crate) loses: Option<&'static str>,
    /// The subgraphs inside the node that keep their state, as paths of node names.
    pub(crate) inside: Vec<String>,
    /// `true` if the node runs graphs that are not known before they are called.
    pub(crate) unknown: bool,
}

/// The states that the subgraphs of a graph keep on the thread.
#[derive(Debug, Default)]
pub(crate) struct KeptStates {
    /// The subgraphs that keep their state, as paths of node names.
    pub(crate) paths: Vec<String>,
    /// `true` if a subgraph is not known before it is called, so that it may keep a state.
    pub(crate) unknown: bool,
}

impl KeptStates {
    /// Returns `true` if a subgraph may keep its state.
    pub(crate) fn may_exist(&self) -> bool {
        self.unknown || !self.paths.is_empty()
    }
}
