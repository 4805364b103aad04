use std::fmt::Write as _;
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

/// The graph in dot; without START where a run may begin `anywhere`.
pub(super) fn dot(name: &str, topology: &Topology, names: &[Arc<str>], anywhere: bool) -> String {
    let quoted = |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
    let mut out = format!("digraph {} {{\n", quoted(name));
    if !anywhere {
        out.push_str("    START [shape=oval];\n");
    }
    for (node, name) in names.iter().enumerate() {
        let deferred = topology.nodes.get(node).is_some_and(|plan| plan.deferred);
        let shape = if deferred { "oval" } else { "box" };
        let _ = writeln!(out, "    n{node} [label={}, shape={shape}];", quoted(name));
    }
    if ends(topology) {
        out.push_str("    FINISH [label=\"END\", shape=oval];\n");
    }
    for (from, to, stroke) in arrows(topology).filter(|(from, ..)| from.is_some() || !anywhere) {
        let label = stroke.label(to, names).map(|label| format!("label={}", quoted(label)));
        let style = match stroke {
            Stroke::Edge => None,
            Stroke::Route(_) => Some("style=dashed".to_owned()),
            Stroke::Packet(_) => Some("style=bold".to_owned()),
        };
        let (from, to) = (source_id(from), target_id(to));
        let drawn: Vec<String> = label.into_iter().chain(style).collect();
        let _ = if drawn.is_empty() {
            writeln!(out, "    {from} -> {to};")
        } else {
            writeln!(out, "    {from} -> {to} [{}];", drawn.join(", "))
        };
    }
    for (index, join) in topology.joins.iter().enumerate() {
        let _ = writeln!(out, "    j{index} [label=\"+\", shape=circle];");
        for source in &join.sources {
            let _ = writeln!(out, "    n{source} -> j{index};");
        }
        let _ = writeln!(out, "    j{index} -> {};", target_id(join.target));
    }
    out.push_str("}\n");
    out
}
