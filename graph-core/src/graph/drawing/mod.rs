//! Pictures of graphs.

pub(crate) mod diagram;
mod direction;
mod dot;
mod drawn;
mod from_graph;
mod look;
mod marked;
mod mermaid;
mod picture;
mod style;
mod svg;
#[cfg(test)]
mod tests;

use diagram::Diagram;
use look::Look;

use super::Compiled;

pub use diagram::Mark;
pub use direction::Direction;
pub use drawn::Drawn;
pub use marked::Marked;
pub use picture::Picture;

/// The picture inside a node that is a subgraph.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct Inside(pub(crate) Diagram);

impl Inside {
    pub(crate) fn of(graph: &Compiled) -> Self {
        Self(Diagram::of(graph).shown().into_owned())
    }
}

pub(super) fn to_mermaid(diagram: &Diagram) -> String {
    mermaid::mermaid(diagram, &Look::default())
}

pub(super) fn to_dot(diagram: &Diagram) -> String {
    dot::dot(diagram, &Look::default())
}

pub(super) fn to_svg(diagram: &Diagram) -> String {
    svg::svg(diagram, &Look::default())
}
