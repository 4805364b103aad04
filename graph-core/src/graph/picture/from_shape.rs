//! Turns the shape of a graph into a diagram.

use std::collections::HashMap;

use crate::drawing::{Arrow, ArrowKind, Diagram, Kind, START_VERTEX, Vertex, id};
use crate::graph::{EdgeShape, GraphShape};

/// Returns the index of a node's vertex. START is the first vertex.
pub(crate) fn vertex_of(node: usize) -> usize {
    node + 1
}

impl Diagram {
    pub(crate) fn of(shape: &GraphShape) -> Self {
        let mut vertices = vec![vertex("START".to_owned(), "START", Kind::Start)];
        for (index, node) in shape.nodes.iter().enumerate() {
            let kind = if node.deferred { Kind::Deferred } else { Kind::Node };
            let inner = node.subgraph.as_ref().map(|inner| Self::of(inner).shown().into_owned());
            vertices.push(Vertex { inner, ..vertex(id(index), &node.name, kind) });
        }
        let mut places: HashMap<&str, usize> =
            shape.nodes.iter().enumerate().map(|(index, node)| (&*node.name, vertex_of(index))).collect();
        places.insert("START", START_VERTEX);
        let mut targets =
            shape.edges.iter().map(|edge| &edge.to).chain(shape.joins.iter().map(|join| &join.to));
        if targets.any(|to| to == "END") {
            places.insert("END", vertices.len());
            // `end` in any case is a keyword of Mermaid.
            vertices.push(vertex("FINISH".to_owned(), "END", Kind::End));
        }
        let place = |name: &String| places.get(&**name).copied().unwrap_or(START_VERTEX);
        let mut arrows: Vec<Arrow> = shape
            .edges
            .iter()
            .map(|edge| Arrow {
                from: place(&edge.from),
                to: place(&edge.to),
                label: label(edge).cloned(),
                kind: match edge {
                    EdgeShape { label: None, .. } => ArrowKind::Edge,
                    EdgeShape { packet: Some(_), .. } => ArrowKind::Packet,
                    _ => ArrowKind::Route,
                },
            })
            .collect();
        for (index, join) in shape.joins.iter().enumerate() {
            let here = vertices.len();
            vertices.push(vertex(format!("j{index}"), "+", Kind::Join));
            let plain = |from, to| Arrow { from, to, label: None, kind: ArrowKind::Edge };
            arrows.extend(join.from.iter().map(|source| plain(place(source), here)));
            arrows.push(plain(here, place(&join.to)));
        }
        Self { name: shape.name.clone(), starts: shape.begins_anywhere.then(Vec::new), vertices, arrows }
    }
}

/// Returns the label of an arrow. An exit that is named like its destination, as in a machine, needs none.
fn label(edge: &EdgeShape) -> Option<&String> {
    let to = if edge.to == "END" { "End" } else { &*edge.to };
    edge.label.as_ref().filter(|label| *label != to)
}

fn vertex(id: String, label: &str, kind: Kind) -> Vertex {
    Vertex { id, label: label.to_owned(), kind, mark: None, notes: Vec::new(), inner: None }
}
