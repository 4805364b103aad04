use super::sketch::{Mark, Sketch};

/// A mark of a spot that is inside of others.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct Marked {
    /// The nodes that it is within, from the outermost on.
    path: Vec<usize>,
    /// The spot, as it is called in its picture.
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

    /// The mark that somebody has to look at, of all these that are not finished.
    pub(crate) fn open(all: &[Self]) -> Option<Mark> {
        all.iter().map(|marked| marked.mark).filter(|mark| *mark != Mark::Finished).max()
    }

    /// The same, seen from the graph that has this node.
    pub(crate) fn within(mut self, node: usize) -> Self {
        self.path.insert(0, node);
        self
    }
}

/// What a node is called inside a picture.
pub(super) fn id(node: usize) -> String {
    format!("n{node}")
}

impl Sketch {
    /// Marks a spot, unless it is not shown. Of several marks the one counts that somebody has to look at.
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
