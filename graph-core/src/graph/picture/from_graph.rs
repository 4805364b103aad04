//! Turns a compiled graph into a diagram.

use crate::drawing::{Arrow, ArrowKind, Diagram, Kind, START_VERTEX, Vertex, id};
use crate::engine::Compiled;
use crate::plan::{NodePlan, Target, Topology};

/// Returns the index of a node's vertex. START is the first vertex.
pub(crate) fn vertex_of(node: usize) -> usize {
    node + 1
}

impl Diagram {
    pub(crate) fn of(graph: &Compiled) -> Self {
        let topology = &graph.topology;
        let mut vertices = vec![vertex("START".to_owned(), "START", Kind::Start)];
        for (node, name) in graph.names.iter().enumerate() {
            let deferred = topology.nodes.get(node).is_some_and(|plan| plan.deferred);
            let kind = if deferred { Kind::Deferred } else { Kind::Node };
            let inner = graph
                .nodes
                .get(node)
                .and_then(|node| node.run.as_subgraph()?.graph())
                .map(|inner| Self::of(inner).shown().into_owned());
            vertices.push(Vertex { inner, ..vertex(id(node), name, kind) });
        }
        let end = vertices.len();
        if ends(topology) {
            // `end` in any case is a keyword of Mermaid.
            vertices.push(vertex("FINISH".to_owned(), "END", Kind::End));
        }
        let place = |target: Target| match target {
            Target::Node(node) => vertex_of(node),
            Target::End => end,
        };
        let name_of = |target: Target| match target {
            Target::Node(node) => graph.names.get(node).map_or("", |name| &**name),
            Target::End => "End",
        };
        let mut arrows: Vec<Arrow> = plans(topology)
            .flat_map(|(from, plan)| {
                let edges = plan.edges.iter().map(move |&to| (to, None, ArrowKind::Edge));
                let exits = plan.exits.iter().chain(&plan.handler_exits).flat_map(|exit| {
                    let kind = if exit.packet.is_some() { ArrowKind::Packet } else { ArrowKind::Route };
                    // An exit that is named like its destination, as in a machine, needs no label.
                    let label =
                        |to| Some(exit.label).filter(|label| *label != name_of(to)).map(str::to_owned);
                    exit.to.iter().map(move |&to| (to, label(to), kind))
                });
                edges.chain(exits).map(move |(to, label, kind)| Arrow { from, to: place(to), label, kind })
            })
            .collect();
        for (index, join) in topology.joins.iter().enumerate() {
            let here = vertices.len();
            vertices.push(vertex(format!("j{index}"), "+", Kind::Join));
            let plain = |from, to| Arrow { from, to, label: None, kind: ArrowKind::Edge };
            arrows.extend(join.sources.iter().map(|&source| plain(vertex_of(source), here)));
            arrows.push(plain(here, place(join.target)));
        }
        Self { name: graph.name.clone(), starts: graph.anywhere.then(Vec::new), vertices, arrows }
    }
}

fn vertex(id: String, label: &str, kind: Kind) -> Vertex {
    Vertex { id, label: label.to_owned(), kind, mark: None, notes: Vec::new(), inner: None }
}

/// Iterates over START and the nodes, with their vertices and plans.
fn plans(topology: &Topology) -> impl Iterator<Item = (usize, &NodePlan)> {
    let nodes = topology.nodes.iter().enumerate().map(|(node, plan)| (vertex_of(node), plan));
    std::iter::once((START_VERTEX, &topology.start)).chain(nodes)
}

fn ends(topology: &Topology) -> bool {
    let exits = |plan: &NodePlan| {
        plan.exits.iter().chain(&plan.handler_exits).any(|exit| exit.to.contains(&Target::End))
    };
    plans(topology).any(|(_, plan)| plan.edges.contains(&Target::End) || exits(plan))
        || topology.joins.iter().any(|join| join.target == Target::End)
}
