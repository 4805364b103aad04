//! A graph can be drawn: what the picture shows is what runs.

use expect_test::expect;
use graph_core::{END, Graph, Route, START, StateGraph, named};
use serde::{Deserialize, Serialize};

use crate::engine::trace::{Trace, TraceUpdate, nodes};

nodes! { a b gather }

#[derive(Serialize, Deserialize)]
struct Item(u32);

#[derive(Route)]
enum Way {
    #[to(item)]
    Each(Item),
    #[to(a, b)]
    #[route(label = "both \"of\" <them>")]
    Both,
    #[to(END)]
    Out,
}

async fn item(_: &Item) -> TraceUpdate {
    TraceUpdate::default()
}

fn decide(_: &Trace) -> Vec<Way> {
    vec![Way::Each(Item(1)), Way::Both, Way::Out]
}

fn graph() -> Graph<Trace> {
    let odd = named("say \"end\" \\ & <go>", async |_: &Trace| {});
    StateGraph::<Trace>::new()
        .name("a \"picture\"")
        .route(START, decide)
        .join((a, b, item), gather)
        .edge(gather, &odd)
        .edge(odd, (END, a))
        .defer(gather)
        .compile()
        .unwrap()
}

#[test]
fn a_mermaid_flowchart_shows_edges_routes_packets_joins_and_deferred_nodes() {
    expect![[r#"
        flowchart TD
            START([START])
            n0["a"]
            n1["b"]
            n2["item"]
            n3(["gather"])
            n4["say #34;end#34; \ #38; #60;go#62;"]
            FINISH([END])
            START == "Each" ==> n2
            START -. "both #34;of#34; #60;them#62;" .-> n0
            START -. "both #34;of#34; #60;them#62;" .-> n1
            START -. "Out" .-> FINISH
            n3 --> n4
            n4 --> FINISH
            n4 --> n0
            j0(("+"))
            n0 --> j0
            n1 --> j0
            n2 --> j0
            j0 --> n3
    "#]]
    .assert_eq(&graph().to_mermaid());
}

#[test]
fn a_dot_graph_shows_the_same() {
    expect![[r#"
        digraph "a \"picture\"" {
            START [shape=oval];
            n0 [label="a", shape=box];
            n1 [label="b", shape=box];
            n2 [label="item", shape=box];
            n3 [label="gather", shape=oval];
            n4 [label="say \"end\" \\ & <go>", shape=box];
            FINISH [label="END", shape=oval];
            START -> n2 [label="Each", style=bold];
            START -> n0 [label="both \"of\" <them>", style=dashed];
            START -> n1 [label="both \"of\" <them>", style=dashed];
            START -> FINISH [label="Out", style=dashed];
            n3 -> n4;
            n4 -> FINISH;
            n4 -> n0;
            j0 [label="+", shape=circle];
            n0 -> j0;
            n1 -> j0;
            n2 -> j0;
            j0 -> n3;
        }
    "#]]
    .assert_eq(&graph().to_dot());
}

#[test]
fn a_graph_without_end_shows_none() {
    let graph = StateGraph::<Trace>::new().edge(START, a).edge(a, b).edge(b, a).compile().unwrap();
    expect![[r#"
        flowchart TD
            START([START])
            n0["a"]
            n1["b"]
            START --> n0
            n0 --> n1
            n1 --> n0
    "#]]
    .assert_eq(&graph.to_mermaid());
    assert!(!graph.to_dot().contains("FINISH"));
}

#[test]
fn a_name_is_text_whatever_mermaid_would_make_of_it() {
    let (code, entity) = (named("`code`", a), named("a#35;b\n%%{init}%%", b));
    let graph = StateGraph::<Trace>::new().edge(START, &code).edge(&code, &entity).edge(&entity, END);
    let picture = graph.compile().unwrap().to_mermaid();
    assert!(picture.contains(r##"n0["#96;code#96;"]"##), "a backtick would begin Markdown: {picture}");
    assert!(picture.contains(r##"n1["a#35;35#59;b#10;#37;#37;{init}#37;#37;"]"##), "{picture}");
}
