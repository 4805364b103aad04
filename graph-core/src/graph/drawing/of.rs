//! Turns a compiled graph into a sketch.

use crate::graph::Compiled;
use crate::plan::{NodePlan, Target, Topology};
use crate::state::GraphState;

use super::marked::id;
use super::sketch::{Arrow, Kind, START_SPOT, Sketch, Spot, Stroke};

/// Returns the index of a node's spot. START is the first spot.
pub(super) fn spot_of(node: usize) -> usize {
    node + 1
}

impl Sketch {
    pub(crate) fn of<S: GraphState, D>(graph: &Compiled<S, D>) -> Self {
        let topology = &graph.topology;
        let mut spots = vec![spot("START".to_owned(), "START", Kind::Start)];
        for (node, name) in graph.names.iter().enumerate() {
            let deferred = topology.nodes.get(node).is_some_and(|plan| plan.deferred);
            let kind = if deferred { Kind::Deferred } else { Kind::Node };
            let inner = graph.nodes.get(node).and_then(|node| node.run.inside()).map(|inside| inside.0);
            spots.push(Spot { inner, ..spot(id(node), name, kind) });
        }
        let end = spots.len();
        if ends(topology) {
            // `end` in any case is a keyword of Mermaid.
            spots.push(spot("FINISH".to_owned(), "END", Kind::End));
        }
        let place = |target: Target| match target {
            Target::Node(node) => spot_of(node),
            Target::End => end,
        };
        let name_of = |target: Target| match target {
            Target::Node(node) => graph.names.get(node).map_or("", |name| &**name),
            Target::End => "End",
        };
        let mut arrows: Vec<Arrow> = plans(topology)
            .flat_map(|(from, plan)| {
                let edges = plan.edges.iter().map(move |&to| (to, None, Stroke::Edge));
                let exits = plan.exits.iter().chain(&plan.handler_exits).flat_map(|exit| {
                    let stroke = if exit.packet.is_some() { Stroke::Packet } else { Stroke::Route };
                    // An exit that is named like its destination, as in a machine, needs no label.
                    let label =
                        |to| Some(exit.label).filter(|label| *label != name_of(to)).map(str::to_owned);
                    exit.to.iter().map(move |&to| (to, label(to), stroke))
                });
                edges.chain(exits).map(move |(to, label, stroke)| Arrow {
                    from,
                    to: place(to),
                    label,
                    stroke,
                })
            })
            .collect();
        for (index, join) in topology.joins.iter().enumerate() {
            let here = spots.len();
            spots.push(spot(format!("j{index}"), "+", Kind::Join));
            let plain = |from, to| Arrow { from, to, label: None, stroke: Stroke::Edge };
            arrows.extend(join.sources.iter().map(|&source| plain(spot_of(source), here)));
            arrows.push(plain(here, place(join.target)));
        }
        Self { name: graph.name.clone(), starts: graph.anywhere.then(Vec::new), spots, arrows }
    }
}

fn spot(id: String, label: &str, kind: Kind) -> Spot {
    Spot { id, label: label.to_owned(), kind, mark: None, notes: Vec::new(), inner: None }
}

/// Iterates over START and the nodes, with their spots and plans.
fn plans(topology: &Topology) -> impl Iterator<Item = (usize, &NodePlan)> {
    let nodes = topology.nodes.iter().enumerate().map(|(node, plan)| (spot_of(node), plan));
    std::iter::once((START_SPOT, &topology.start)).chain(nodes)
}

fn ends(topology: &Topology) -> bool {
    let exits = |plan: &NodePlan| {
        plan.exits.iter().chain(&plan.handler_exits).any(|exit| exit.to.contains(&Target::End))
    };
    plans(topology).any(|(_, plan)| plan.edges.contains(&Target::End) || exits(plan))
        || topology.joins.iter().any(|join| join.target == Target::End)
}
