//! Events inside a subgraph carry the names of the subgraph nodes as their namespace.

use serde_json::json;
use superstep::{Context, END, Event, EventKind, GraphState, START, StateGraph, StreamMode};

#[derive(GraphState, Clone, Debug)]
struct Report {
    #[state(reducer = append)]
    notes: Vec<String>,
}

#[derive(GraphState, Clone, Debug)]
struct Search {
    found: u32,
    #[state(exclude)]
    secret: u32,
}

async fn look(_: &Search, cx: &Context) -> SearchUpdate {
    cx.emit("looking").await;
    Search::update().found(3_u32).secret(71_717_u32)
}

async fn note(_: &Report) -> ReportUpdate {
    Report::update().notes(["same".to_owned()])
}

fn described(event: &Event<Report>) -> String {
    let path: Vec<&str> = event.namespace.iter().map(|node| &**node).collect();
    format!("{}:{}:{}", path.join("/"), event.kind.name(), event.kind.node().unwrap_or("-"))
}

#[tokio::test]
async fn events_carry_their_namespace() {
    let search = StateGraph::<Search>::new().edge(START, look).edge(look, END).compile().unwrap();
    let search = search.as_node("search").mapped(
        |_: &Report| Search::input(),
        |done| Report::update().notes([format!("found {}", done.state.found)]),
    );
    let inner = StateGraph::<Report>::new().edge(START, note).edge(note, &search).edge(&search, END);
    let inner = inner.compile().unwrap().as_node("inner");
    let graph = StateGraph::<Report>::new().edge(START, &inner).edge(&inner, END).compile().unwrap();
    let mut seen = Vec::new();
    let run = graph.run(Report::input()).events([StreamMode::Updates, StreamMode::Custom]).stream();
    let ended = run
        .for_each(|event| {
            if let EventKind::Subgraph(inside) = &event.kind
                && let Some(EventKind::Update { update, .. }) = inside.kind::<Search>()
            {
                use superstep::state::Update as _;
                assert_eq!(update.get(Search::FOUND), Some(&3));
                let json = serde_json::to_value(event).unwrap();
                assert_eq!(json["data"], json!([{ "found": 3 }]));
                assert_eq!(json["namespace"], json!(["inner", "search"]));
            }
            assert_eq!(event.sequence, seen.len() as u64);
            assert!(!format!("{event:?}").contains("71717"));
            seen.push(described(event));
        })
        .await
        .unwrap();
    assert_eq!(ended.state().notes, ["same", "found 3"]);
    assert_eq!(
        seen,
        [
            "inner:update:note",
            "inner/search:custom:look",
            "inner/search:update:look",
            "inner:update:search",
            ":update:inner",
            ":done:-",
        ]
    );
}

#[tokio::test]
async fn run_without_stream_modes_emits_only_its_end() {
    let inner =
        StateGraph::<Report>::new().edge(START, note).edge(note, END).compile().unwrap().as_node("inner");
    let graph = StateGraph::<Report>::new().edge(START, &inner).edge(&inner, END).compile().unwrap();
    let mut seen = 0;
    graph.run(Report::input()).events([]).stream().for_each(|_| seen += 1).await.unwrap();
    assert_eq!(seen, 1);
}
