//! The structure of graphs as data.

use expect_test::expect;
use serde::{Deserialize, Serialize};
use superstep::graph::GraphShape;
use superstep::subgraph::Subgraph;
use superstep::{END, Graph, NodeFailure, Route, START, StateGraph};

use crate::engine::trace::{Trace, TraceUpdate, nodes};

nodes! { a b gather }

#[derive(Serialize, Deserialize)]
struct Item(u32);

#[derive(Route)]
enum Way {
    #[to(item)]
    Each(Item),
    #[to(a, "b")]
    Both,
    #[to(END)]
    Out,
}

#[derive(Route)]
enum Rescue {
    #[to(a)]
    #[route(label = "try again")]
    Again,
}

async fn item(_: &Item) -> TraceUpdate {
    TraceUpdate::default()
}

async fn rescue(_: &NodeFailure) -> Rescue {
    Rescue::Again
}

fn decide(_: &Trace) -> Vec<Way> {
    vec![Way::Each(Item(1)), Way::Both, Way::Out]
}

fn inner() -> Graph<Trace> {
    StateGraph::<Trace>::new().name("inner").edge(START, a).edge(a, END).compile().unwrap()
}

fn graph() -> Graph<Trace> {
    let (sub, later) = (inner().as_node("sub"), Subgraph::lazy("later", inner));
    StateGraph::<Trace>::new()
        .name("outer")
        .route(START, decide)
        .join((a, b), gather)
        .join_optional((item, &sub), END)
        .edge(gather, (&sub, &later))
        .edge(later, END)
        .defer(gather)
        .on_error(b, rescue)
        .compile()
        .unwrap()
}

#[test]
fn shape_has_nodes_edges_routes_packets_joins_and_subgraphs() {
    let json = serde_json::to_string_pretty(&graph().shape()).unwrap();
    expect![[r#"
        {
          "name": "outer",
          "nodes": [
            {
              "name": "a"
            },
            {
              "name": "b"
            },
            {
              "name": "gather",
              "deferred": true
            },
            {
              "name": "item",
              "packet": "runs::engine::shapes::Item"
            },
            {
              "name": "sub",
              "subgraph": {
                "name": "inner",
                "nodes": [
                  {
                    "name": "a"
                  }
                ],
                "edges": [
                  {
                    "from": "START",
                    "to": "a"
                  },
                  {
                    "from": "a",
                    "to": "END"
                  }
                ]
              }
            },
            {
              "name": "later"
            }
          ],
          "edges": [
            {
              "from": "START",
              "to": "item",
              "label": "Each",
              "packet": "runs::engine::shapes::Item"
            },
            {
              "from": "START",
              "to": "a",
              "label": "Both"
            },
            {
              "from": "START",
              "to": "b",
              "label": "Both"
            },
            {
              "from": "START",
              "to": "END",
              "label": "Out"
            },
            {
              "from": "b",
              "to": "a",
              "label": "try again",
              "on_error": true
            },
            {
              "from": "gather",
              "to": "sub"
            },
            {
              "from": "gather",
              "to": "later"
            },
            {
              "from": "later",
              "to": "END"
            }
          ],
          "joins": [
            {
              "from": [
                "a",
                "b"
              ],
              "to": "gather"
            },
            {
              "from": [
                "item",
                "sub"
              ],
              "to": "END",
              "optional": true
            }
          ]
        }"#]]
    .assert_eq(&json);
    assert_eq!(serde_json::from_str::<GraphShape>(&json).unwrap(), graph().shape());
}

#[test]
fn only_routes_are_conditional() {
    let shape = graph().shape();
    let (chosen, always): (Vec<_>, Vec<_>) = shape.edges.iter().partition(|edge| edge.is_conditional());
    assert_eq!(chosen.len(), 5);
    let always: Vec<_> = always.iter().map(|edge| (&*edge.from, &*edge.to)).collect();
    assert_eq!(always, [("gather", "sub"), ("gather", "later"), ("later", "END")]);
}
