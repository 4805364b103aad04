//! Pictures of graphs.

mod direction;
mod dot;
mod drawn;
mod look;
mod marked;
mod mermaid;
mod of;
mod picture;
pub(crate) mod sketch;
mod style;
mod svg;
#[cfg(test)]
mod tests;

use look::Look;
use sketch::Sketch;

use crate::state::GraphState;

use super::Graph;

pub use direction::Direction;
pub use drawn::Drawn;
pub use marked::Marked;
pub use picture::Picture;
pub use sketch::Mark;

/// The picture inside a node that is a subgraph.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct Inside(pub(crate) Sketch);

impl Inside {
    pub(crate) fn of<S: GraphState, D>(graph: &Graph<S, D>) -> Self {
        Self(Sketch::of(&graph.0).shown().into_owned())
    }
}

pub(super) fn to_mermaid(sketch: &Sketch) -> String {
    mermaid::mermaid(sketch, &Look::default())
}

pub(super) fn to_dot(sketch: &Sketch) -> String {
    dot::dot(sketch, &Look::default())
}

pub(super) fn to_svg(sketch: &Sketch) -> String {
    svg::svg(sketch, &Look::default())
}
