use super::sketch::{Mark, Sketch};

/// The mark of a spot inside nested subgraphs.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct Marked {
    /// The enclosing nodes, outermost first.
    path: Vec<usize>,
    /// The id of the spot in its sketch.
    spot: String,
    mark: Mark,
}

impl Marked {
    pub(crate) fn start(mark: Mark) -> Self {
        Self { path: Vec::new(), spot: "START".to_owned(), mark }
    }

    pub(crate) fn node(node: usize, mark: Mark) -> Self {
        Self { path: Vec::new(), spot: id(node), mark }
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

/// Returns the id of a node's spot.
pub(super) fn id(node: usize) -> String {
    format!("n{node}")
}

impl Sketch {
    /// Marks a spot, if it is shown. The most urgent of several marks wins.
    pub(super) fn mark(&mut self, marked: &Marked) {
        let mut sketch = Some(self);
        for node in &marked.path {
            let name = id(*node);
            sketch = sketch
                .and_then(|sketch| sketch.spots.iter_mut().find(|spot| spot.id == name))
                .and_then(|spot| spot.inner.as_mut());
        }
        let spots = sketch.map(|sketch| &mut sketch.spots);
        if let Some(spot) = spots.and_then(|spots| spots.iter_mut().find(|spot| spot.id == marked.spot)) {
            spot.mark = spot.mark.max(Some(marked.mark));
        }
    }
}
