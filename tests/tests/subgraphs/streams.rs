//! Events inside a subgraph carry the names of the subgraph nodes as their namespace.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::json;
use superstep::checkpoint::MemoryCheckpointer;
use superstep::{Context, END, Event, EventKind, GraphState, Route, START, StateGraph, StreamMode};

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

#[derive(Serialize, Deserialize)]
struct Topic(u32);

#[derive(Route)]
enum Each {
    #[to("outer")]
    Outer(Topic),
}

async fn split(_: &Report) -> Vec<Each> {
    [1, 2].map(|topic| Each::Outer(Topic(topic))).into()
}

#[tokio::test]
async fn parallel_calls_have_the_ids_of_their_callers() {
    let search = StateGraph::<Search>::new().edge(START, look).edge(look, END).compile().unwrap();
    let search = search.as_node("search");
    let outer = StateGraph::<Search>::new().edge(START, &search).edge(&search, END).compile().unwrap();
    let outer = outer.as_node("outer");
    for (outer, is_stored) in [(outer.clone(), true), (outer.unstored(), false)] {
        let outer = outer.mapped_packet(|_: &Report, _: &Topic| Search::input(), |_| Report::update());
        let graph = StateGraph::<Report>::new().edge(START, split).edge(&outer, END).compile().unwrap();
        let graph = graph.with_checkpointer(MemoryCheckpointer::new());
        let (mut begun, mut callers) = (BTreeSet::new(), BTreeSet::new());
        let run = graph.thread("t").run(Report::input()).events([StreamMode::Tasks, StreamMode::Custom]);
        run.stream()
            .for_each(|event| {
                assert_eq!(event.callers.len(), event.namespace.len());
                if event.kind.name() == "task_started" {
                    let path = event.namespace.iter().map(|node| &**node).chain(event.kind.node());
                    begun.insert((path.collect::<Vec<_>>().join("/"), event.task_id()));
                }
                if let EventKind::Subgraph(inside) = &event.kind
                    && inside.name() == "custom"
                {
                    callers.insert(event.callers.clone());
                }
            })
            .await
            .unwrap();
        assert_eq!(callers.len(), 2, "{callers:?}");
        for caller in callers {
            assert!(
                begun.contains(&("outer".to_owned(), Some(caller[0].to_string()))),
                "{caller:?} of {begun:?}"
            );
            // The task of a call that is not stored has no id, but it differs from the others.
            let inner = ("outer/search".to_owned(), Some(caller[1].to_string()));
            assert_eq!(begun.contains(&inner), is_stored, "{caller:?} of {begun:?}");
        }
    }
}
