use std::sync::Arc;

use crate::plan::{NodePlan, Target, Topology};

/// One line of a picture.
pub(super) enum Stroke<'t> {
    Edge,
    Route(&'t str),
    Packet(&'t str),
}

impl<'t> Stroke<'t> {
    /// What stands at it: nothing where that would be the name of what it leads to, as in a machine.
    pub(super) fn label(&self, to: Target, names: &[Arc<str>]) -> Option<&'t str> {
        let (Self::Route(label) | Self::Packet(label)) = self else { return None };
        let says_the_same = match to {
            Target::Node(node) => names.get(node).is_some_and(|name| &**name == *label),
            Target::End => *label == "End",
        };
        (!says_the_same).then_some(label)
    }
}

/// Every arrow of the graph: from (`None` is START), to, how it is drawn.
pub(super) fn arrows(topology: &Topology) -> impl Iterator<Item = (Option<usize>, Target, Stroke<'_>)> {
    let places = std::iter::once((None, &topology.start))
        .chain(topology.nodes.iter().enumerate().map(|(node, plan)| (Some(node), plan)));
    places.flat_map(|(from, plan): (Option<usize>, &NodePlan)| {
        let edges = plan.edges.iter().map(move |&to| (from, to, Stroke::Edge));
        let exits = plan.exits.iter().chain(&plan.rescues).flat_map(move |exit| {
            exit.to.iter().map(move |&to| {
                let stroke = if exit.packet.is_some() {
                    Stroke::Packet(exit.label)
                } else {
                    Stroke::Route(exit.label)
                };
                (from, to, stroke)
            })
        });
        edges.chain(exits)
    })
}

pub(super) fn source_id(node: Option<usize>) -> String {
    node.map_or_else(|| "START".to_owned(), |node| format!("n{node}"))
}

pub(super) fn target_id(target: Target) -> String {
    match target {
        Target::Node(node) => format!("n{node}"),
        // `end` is a keyword of Mermaid, in whatever case.
        Target::End => "FINISH".to_owned(),
    }
}

pub(super) fn ends(topology: &Topology) -> bool {
    arrows(topology).any(|(_, to, _)| to == Target::End)
        || topology.joins.iter().any(|join| join.target == Target::End)
}
