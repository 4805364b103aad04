//! The drawing of a graph as clients expect it.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;
use superstep::graph::{GraphShape, NodeShape};

const START: &str = "__start__";
const END: &str = "__end__";

/// Returns nodes and edges. Subgraphs down to a depth are drawn in the place of their nodes.
pub(super) fn draw(shape: &GraphShape, depth: usize) -> Drawing {
    let mut drawing = Drawing::default();
    drawing.node(START);
    drawing.inner(shape, "", depth);
    drawing.nodes.push(DrawnNode { id: END.to_owned(), kind: None, data: None });
    for edge in edges(shape) {
        drawing.edge(shape, "", depth, edge);
    }
    drawing
}

/// The nodes and edges of a graph.
#[derive(Default, Serialize, JsonSchema)]
#[schemars(rename = "GraphDrawing")]
pub(super) struct Drawing {
    nodes: Vec<DrawnNode>,
    edges: Vec<DrawnEdge>,
}

/// A node of a drawing.
#[derive(Serialize, JsonSchema)]
struct DrawnNode {
    /// The id. The nodes of a subgraph begin with the name of its node and `:`.
    id: String,
    /// `runnable`.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<NodeName>,
}

/// The name of a node.
#[derive(Serialize, JsonSchema)]
struct NodeName {
    name: String,
}

/// An edge of a drawing.
#[derive(Serialize, JsonSchema)]
struct DrawnEdge {
    source: String,
    target: String,
    /// `true` if the edge is one of several choices.
    #[serde(skip_serializing_if = "Option::is_none")]
    conditional: Option<bool>,
    /// The label, if it says more than the name of the target.
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<String>,
}

/// An edge between the names of a graph, `START` or `END`.
struct Edge<'s> {
    from: &'s str,
    to: &'s str,
    label: Option<&'s str>,
    conditional: bool,
}

fn edges(shape: &GraphShape) -> Vec<Edge<'_>> {
    let mut edges = Vec::new();
    for edge in &shape.edges {
        // The label is only shown if it says more than the name of the target.
        let label = edge.label.as_deref().filter(|label| *label != edge.to);
        edges.push(Edge { from: &edge.from, to: &edge.to, label, conditional: edge.is_conditional() });
    }
    for join in &shape.joins {
        edges.extend(join.from.iter().map(|from| Edge {
            from,
            to: &join.to,
            label: None,
            conditional: false,
        }));
    }
    if shape.begins_anywhere {
        let begun: BTreeSet<_> =
            shape.edges.iter().filter(|edge| edge.from == "START").map(|edge| &edge.to).collect();
        let rest = shape.nodes.iter().filter(|node| !begun.contains(&node.name));
        edges.extend(rest.map(|node| Edge { from: "START", to: &node.name, label: None, conditional: true }));
    }
    edges
}

/// The nodes at which a subgraph is entered and left, if its `START` and `END` need not be drawn.
struct Ends<'s> {
    first: Option<&'s str>,
    last: Option<&'s str>,
}

impl<'s> Ends<'s> {
    fn of(shape: &'s GraphShape) -> Self {
        let edges = edges(shape);
        let only = |mut matching: Vec<&'s str>, plain: bool| {
            let node = matching.pop()?;
            (plain && matching.is_empty() && node != "START" && node != "END").then_some(node)
        };
        let starts: Vec<_> = edges.iter().filter(|edge| edge.from == "START").collect();
        let ends: Vec<_> = edges.iter().filter(|edge| edge.to == "END").collect();
        let plain = |edges: &[&Edge<'_>]| edges.iter().all(|edge| !edge.conditional);
        Self {
            first: only(starts.iter().map(|edge| edge.to).collect(), plain(&starts)),
            last: only(ends.iter().map(|edge| edge.from).collect(), plain(&ends)),
        }
    }
}

fn drawn(node: &NodeShape, depth: usize) -> Option<&GraphShape> {
    node.subgraph.as_deref().filter(|_| depth > 0)
}

impl Drawing {
    fn node(&mut self, id: &str) {
        let data = Some(NodeName { name: id.to_owned() });
        self.nodes.push(DrawnNode { id: id.to_owned(), kind: Some("runnable"), data });
    }

    /// Adds the nodes of a graph except for `START` and `END`, and the edges of its subgraphs.
    fn inner(&mut self, shape: &GraphShape, prefix: &str, depth: usize) {
        for node in &shape.nodes {
            let id = format!("{prefix}{}", node.name);
            let Some(subgraph) = drawn(node, depth) else {
                self.node(&id);
                continue;
            };
            let (ends, inner) = (Ends::of(subgraph), format!("{id}:"));
            if ends.first.is_none() {
                self.node(&format!("{inner}{START}"));
            }
            self.inner(subgraph, &inner, depth - 1);
            if ends.last.is_none() {
                self.node(&format!("{inner}{END}"));
            }
            for edge in edges(subgraph) {
                let hidden = (edge.from == "START" && ends.first.is_some())
                    || (edge.to == "END" && ends.last.is_some());
                if !hidden {
                    self.edge(subgraph, &inner, depth - 1, edge);
                }
            }
        }
    }

    fn edge(&mut self, shape: &GraphShape, prefix: &str, depth: usize, edge: Edge<'_>) {
        let source = place(shape, prefix, depth, edge.from, false);
        let target = place(shape, prefix, depth, edge.to, true);
        self.edges.push(DrawnEdge {
            source,
            target,
            conditional: edge.conditional.then_some(true),
            data: edge.label.map(str::to_owned),
        });
    }
}

/// Returns the node at which an edge begins or ends: inside a subgraph that is drawn, its first or last node.
fn place(shape: &GraphShape, prefix: &str, depth: usize, name: &str, entered: bool) -> String {
    match name {
        "START" => return format!("{prefix}{START}"),
        "END" => return format!("{prefix}{END}"),
        _ => {}
    }
    let node = shape.nodes.iter().find(|node| node.name == name);
    let Some(subgraph) = node.and_then(|node| drawn(node, depth)) else { return format!("{prefix}{name}") };
    let ends = Ends::of(subgraph);
    let (end, outside) = if entered { (ends.first, "START") } else { (ends.last, "END") };
    place(subgraph, &format!("{prefix}{name}:"), depth - 1, end.unwrap_or(outside), entered)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use superstep::{END, GraphState, Route, START, StateGraph};

    use super::*;

    #[derive(GraphState, Clone)]
    struct Outer {
        text: String,
    }

    async fn one(_: &Outer) {}
    async fn two(_: &Outer) {}

    #[derive(Route)]
    enum Verdict {
        #[to(one)]
        Rework,
        #[to(END)]
        Accept,
    }

    async fn review(outer: &Outer) -> Verdict {
        if outer.text.is_empty() { Verdict::Rework } else { Verdict::Accept }
    }

    fn shape() -> GraphShape {
        let child =
            StateGraph::<Outer>::new().edge(START, one).edge(one, two).edge(two, END).compile().unwrap();
        let child = child.as_node("child");
        let graph = StateGraph::<Outer>::new().edge(START, one).edge(one, &child).edge(&child, review);
        graph.compile().unwrap().shape()
    }

    #[test]
    fn a_drawing_has_conditional_edges_with_labels() {
        let node = |id: &str| json!({ "id": id, "type": "runnable", "data": { "name": id } });
        let edge = |source: &str, target: &str| json!({ "source": source, "target": target });
        let choice = |source: &str, target: &str, label: &str| json!({ "source": source, "target": target, "conditional": true, "data": label });
        let choices = [choice("review", "one", "Rework"), choice("review", "__end__", "Accept")];
        let nodes = |names: &[&str]| {
            names.iter().map(|name| node(name)).chain([json!({ "id": "__end__" })]).collect::<Vec<_>>()
        };
        let drawing = json!(draw(&shape(), 0));
        assert_eq!(drawing["nodes"], json!(nodes(&["__start__", "one", "child", "review"])));
        let mut plain = vec![edge("__start__", "one"), edge("one", "child"), edge("child", "review")];
        plain.extend(choices.clone());
        assert_eq!(drawing["edges"], json!(plain));
        let drawing = json!(draw(&shape(), 1));
        assert_eq!(drawing["nodes"], json!(nodes(&["__start__", "one", "child:one", "child:two", "review"])));
        let mut inner = vec![
            edge("child:one", "child:two"),
            edge("__start__", "one"),
            edge("one", "child:one"),
            edge("child:two", "review"),
        ];
        inner.extend(choices);
        assert_eq!(drawing["edges"], json!(inner));
    }
}
