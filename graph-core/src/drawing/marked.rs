use super::diagram::{Diagram, Mark};

/// The mark of a vertex inside nested subgraphs.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub(crate) struct Marked {
    /// The enclosing nodes, outermost first.
    path: Vec<usize>,
    /// The id of the vertex in its diagram.
    vertex: String,
    mark: Mark,
}

impl Marked {
    pub(crate) fn start(mark: Mark) -> Self {
        Self { path: Vec::new(), vertex: "START".to_owned(), mark }
    }

    pub(crate) fn node(node: usize, mark: Mark) -> Self {
        Self { path: Vec::new(), vertex: id(node), mark }
    }

    /// Returns the most urgent of the marks that are not `Finished`.
    pub(crate) fn open(all: &[Self]) -> Option<Mark> {
        all.iter().map(|marked| marked.mark).filter(|mark| *mark != Mark::Finished).max()
    }

    /// Returns the mark as seen from the parent graph, in which `node` is the subgraph.
    pub(crate) fn within(mut self, node: usize) -> Self {
        self.path.insert(0, node);
        self
    }
}

/// Returns the id of a node's vertex.
pub(crate) fn id(node: usize) -> String {
    format!("n{node}")
}

impl Diagram {
    /// Marks a vertex, if it is shown. The most urgent of several marks wins.
    pub(crate) fn mark(&mut self, marked: &Marked) {
        let mut diagram = Some(self);
        for node in &marked.path {
            let name = id(*node);
            diagram = diagram
                .and_then(|diagram| diagram.vertices.iter_mut().find(|vertex| vertex.id == name))
                .and_then(|vertex| vertex.inner.as_mut());
        }
        let vertices = diagram.map(|diagram| &mut diagram.vertices);
        if let Some(vertex) =
            vertices.and_then(|vertices| vertices.iter_mut().find(|vertex| vertex.id == marked.vertex))
        {
            vertex.mark = vertex.mark.max(Some(marked.mark));
        }
    }
}
