//! The structure of a graph as data.

use serde::{Deserialize, Serialize};

use crate::engine::Compiled;
use crate::erased::PacketType;
use crate::plan::{NodePlan, Target};

/// The structure of a compiled graph: its nodes, and the ways between them. Made by
/// [`Graph::shape`](crate::Graph::shape), for user interfaces and tools. Pictures are drawn from it.
///
/// Names are unique: `START` and `END` are never names of nodes. The JSON of a shape leaves out what is absent or `false`.
///
/// ```
/// # use superstep::{END, GraphState, Route, START, StateGraph};
/// # #[derive(GraphState, Clone)]
/// # struct Ticket { text: String }
/// # #[derive(Route)]
/// # enum Verdict { #[to(draft)] Rework, #[to(END)] Accept }
/// # async fn draft(_: &Ticket) {}
/// # async fn review(_: &Ticket) -> Verdict { Verdict::Accept }
/// # fn main() -> superstep::Result<()> {
/// # let graph = StateGraph::<Ticket>::new().edge(START, draft).edge(draft, review).compile()?;
/// let shape = graph.shape();
/// assert_eq!(shape.nodes[1].name, "review");
/// assert_eq!(
///     serde_json::to_value(&shape.edges)?,
///     serde_json::json!([
///         { "from": "START", "to": "draft" },
///         { "from": "draft", "to": "review" },
///         { "from": "review", "to": "draft", "label": "Rework" },
///         { "from": "review", "to": "END", "label": "Accept" },
///     ])
/// );
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct GraphShape {
    /// The name of the graph.
    pub name: String,
    /// The nodes, in registration order.
    pub nodes: Vec<NodeShape>,
    /// The edges and the exits of routes: those of START first, then those of each node.
    pub edges: Vec<EdgeShape>,
    /// The joins.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub joins: Vec<JoinShape>,
    /// `true` if a run may begin at any node, as in a [state machine](crate::machine). START then leads to all of them.
    #[serde(default, skip_serializing_if = "is_false")]
    pub begins_anywhere: bool,
}

/// A node of a [`GraphShape`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct NodeShape {
    /// The name.
    pub name: String,
    /// `true` if the node [waits](crate::StateGraph::defer) until no other node is left to run.
    #[serde(default, skip_serializing_if = "is_false")]
    pub deferred: bool,
    /// The Rust type of the packet that the node reads, as [`std::any::type_name`] returns it. The name is for people, and
    /// may change with the compiler.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packet: Option<String>,
    /// The graph that the node runs. `None` for a plain node, and for a subgraph that is only made when it is called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subgraph: Option<Box<GraphShape>>,
}

/// An edge, or one target of an exit of a route, in a [`GraphShape`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EdgeShape {
    /// The name of a node, or `START`.
    pub from: String,
    /// The name of a node, or `END`.
    pub to: String,
    /// The label of the exit, if the node chooses whether to take it. `None` for an edge, which is always taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The Rust type of the packet that is sent, as [`std::any::type_name`] returns it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packet: Option<String>,
    /// `true` if the [error handler](crate::StateGraph::on_error) of the node chooses it, and not the node.
    #[serde(default, skip_serializing_if = "is_false")]
    pub on_error: bool,
}

/// A join of a [`GraphShape`]: its target runs once all its sources have finished.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct JoinShape {
    /// The names of the nodes that have to finish.
    pub from: Vec<String>,
    /// The name of a node, or `END`.
    pub to: String,
    /// `true` if the run may end while it still waits for some of its sources.
    #[serde(default, skip_serializing_if = "is_false")]
    pub optional: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

impl EdgeShape {
    /// Returns `true` if the node, or its error handler, chooses whether the edge is taken.
    pub fn is_conditional(&self) -> bool {
        self.label.is_some()
    }
}

impl GraphShape {
    pub(crate) fn of(graph: &Compiled) -> Self {
        let topology = &graph.topology;
        let name = |node: usize| graph.node_name(node).to_owned();
        let target = |target: Target| match target {
            Target::Node(node) => name(node),
            Target::End => "END".to_owned(),
        };
        let nodes = graph.nodes.iter().zip(&topology.nodes).enumerate().map(|(index, (node, plan))| {
            let subgraph = node.run.as_subgraph().and_then(|subgraph| subgraph.graph());
            NodeShape {
                name: name(index),
                deferred: plan.deferred,
                packet: node.packet.map(type_name),
                subgraph: subgraph.map(|subgraph| Box::new(Self::of(subgraph))),
            }
        });
        let plans = topology.nodes.iter().enumerate().map(|(node, plan)| (name(node), plan));
        let plans = std::iter::once(("START".to_owned(), &topology.start)).chain(plans);
        let joins = topology.joins.iter().map(|join| JoinShape {
            from: join.sources.iter().copied().map(name).collect(),
            to: target(join.target),
            optional: join.optional,
        });
        Self {
            name: graph.name.clone(),
            nodes: nodes.collect(),
            edges: plans.flat_map(|(from, plan)| edges_of(&from, plan, target)).collect(),
            joins: joins.collect(),
            begins_anywhere: graph.anywhere,
        }
    }
}

fn edges_of(from: &str, plan: &NodePlan, name: impl Fn(Target) -> String) -> Vec<EdgeShape> {
    let edge = |to: Target| EdgeShape {
        from: from.to_owned(),
        to: name(to),
        label: None,
        packet: None,
        on_error: false,
    };
    let exits = plan.exits.iter().map(|exit| (exit, false));
    let exits = exits.chain(plan.handler_exits.iter().map(|exit| (exit, true)));
    let chosen = exits.flat_map(|(exit, on_error)| {
        exit.to.iter().map(move |&to| EdgeShape {
            label: Some(exit.label.to_owned()),
            packet: exit.packet.map(type_name),
            on_error,
            ..edge(to)
        })
    });
    plan.edges.iter().map(|&to| edge(to)).chain(chosen).collect()
}

fn type_name(packet: PacketType) -> String {
    packet.name().to_owned()
}
