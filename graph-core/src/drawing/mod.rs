//! Diagrams of graphs as Mermaid, dot and SVG. A diagram knows names and edges, and nothing of graphs.

pub(crate) mod diagram;
mod direction;
mod dot;
mod look;
mod marked;
mod mermaid;
mod style;
mod svg;
#[cfg(test)]
mod tests;

pub use diagram::Mark;
pub(crate) use diagram::{Arrow, ArrowKind, Diagram, Kind, START_VERTEX, Vertex};
pub use direction::Direction;
pub(crate) use look::Look;
pub(crate) use marked::Marked;
pub(crate) use marked::id;
pub(crate) use style::Style;

impl Diagram {
    /// Returns the diagram as a Mermaid flowchart.
    pub(crate) fn to_mermaid(&self, look: &Look) -> String {
        mermaid::mermaid(self, look)
    }

    /// Returns the diagram in the dot language of Graphviz.
    pub(crate) fn to_dot(&self, look: &Look) -> String {
        dot::dot(self, look)
    }

    /// Returns the diagram as an SVG image.
    pub(crate) fn to_svg(&self, look: &Look) -> String {
        svg::svg(self, look)
    }
}
