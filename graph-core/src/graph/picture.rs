use std::fmt::Write as _;
use std::sync::Arc;

use crate::plan::{NodePlan, Target, Topology};

/// One line of a picture.
enum Stroke<'t> {
    Edge,
    Route(&'t str),
    Packet(&'t str),
}

/// Every arrow of the graph: from (`None` is START), to, how it is drawn.
fn arrows(topology: &Topology) -> impl Iterator<Item = (Option<usize>, Target, Stroke<'_>)> {
    let places = std::iter::once((None, &topology.start))
        .chain(topology.nodes.iter().enumerate().map(|(node, plan)| (Some(node), plan)));
    places.flat_map(|(from, plan): (Option<usize>, &NodePlan)| {
        let edges = plan.edges.iter().map(move |&to| (from, to, Stroke::Edge));
        let exits = plan.exits.iter().flat_map(move |exit| {
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

fn source_id(node: Option<usize>) -> String {
    node.map_or_else(|| "START".to_owned(), |node| format!("n{node}"))
}

fn target_id(target: Target) -> String {
    match target {
        Target::Node(node) => format!("n{node}"),
        // `end` is a keyword of Mermaid, in whatever case.
        Target::End => "FINISH".to_owned(),
    }
}

fn ends(topology: &Topology) -> bool {
    arrows(topology).any(|(_, to, _)| to == Target::End)
        || topology.joins.iter().any(|join| join.target == Target::End)
}

pub(super) fn mermaid(topology: &Topology, names: &[Arc<str>]) -> String {
    // A backtick at the beginning would make the text Markdown, a line may look like a comment or a directive.
    let quoted = |text: &str| -> String {
        let escaped = |c: char| matches!(c, '#' | '&' | '"' | '<' | '>' | '`' | '%' | ';') || c.is_control();
        text.chars().map(|c| if escaped(c) { format!("#{};", u32::from(c)) } else { c.into() }).collect()
    };
    let mut out = String::from("flowchart TD\n    START([START])\n");
    for (node, name) in names.iter().enumerate() {
        let name = quoted(name);
        let deferred = topology.nodes.get(node).is_some_and(|plan| plan.deferred);
        let _ = if deferred {
            writeln!(out, "    n{node}([\"{name}\"])")
        } else {
            writeln!(out, "    n{node}[\"{name}\"]")
        };
    }
    if ends(topology) {
        out.push_str("    FINISH([END])\n");
    }
    for (from, to, stroke) in arrows(topology) {
        let (from, to) = (source_id(from), target_id(to));
        let _ = match stroke {
            Stroke::Edge => writeln!(out, "    {from} --> {to}"),
            Stroke::Route(label) => writeln!(out, "    {from} -. \"{}\" .-> {to}", quoted(label)),
            Stroke::Packet(label) => writeln!(out, "    {from} == \"{}\" ==> {to}", quoted(label)),
        };
    }
    for (index, join) in topology.joins.iter().enumerate() {
        let _ = writeln!(out, "    j{index}((\"+\"))");
        for source in &join.sources {
            let _ = writeln!(out, "    n{source} --> j{index}");
        }
        let _ = writeln!(out, "    j{index} --> {}", target_id(join.target));
    }
    out
}

pub(super) fn dot(name: &str, topology: &Topology, names: &[Arc<str>]) -> String {
    let quoted = |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
    let mut out = format!("digraph {} {{\n    START [shape=oval];\n", quoted(name));
    for (node, name) in names.iter().enumerate() {
        let deferred = topology.nodes.get(node).is_some_and(|plan| plan.deferred);
        let shape = if deferred { "oval" } else { "box" };
        let _ = writeln!(out, "    n{node} [label={}, shape={shape}];", quoted(name));
    }
    if ends(topology) {
        out.push_str("    FINISH [label=\"END\", shape=oval];\n");
    }
    for (from, to, stroke) in arrows(topology) {
        let (from, to) = (source_id(from), target_id(to));
        let _ = match stroke {
            Stroke::Edge => writeln!(out, "    {from} -> {to};"),
            Stroke::Route(label) => {
                writeln!(out, "    {from} -> {to} [label={}, style=dashed];", quoted(label))
            }
            Stroke::Packet(label) => {
                writeln!(out, "    {from} -> {to} [label={}, style=bold];", quoted(label))
            }
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
