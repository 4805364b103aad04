//! Routes and packets in runs.

use serde::{Deserialize, Serialize};
use superstep::{Context, END, GraphState, Result, Route, START, StateGraph, named};

#[derive(GraphState, Clone, Default)]
struct Work {
    #[state(reducer = append)]
    log: Vec<String>,
    drafts: u32,
}

fn logged(text: impl Into<String>) -> WorkUpdate {
    Work::update().log([text.into()])
}

#[derive(Serialize, Deserialize)]
struct Query {
    word: String,
}

async fn draft(work: &Work) -> WorkUpdate {
    logged("draft").drafts(work.drafts + 1)
}

#[derive(Route)]
enum Verdict {
    #[to(draft)]
    Rework,
    #[to(END)]
    Accept,
}

async fn review(work: &Work) -> Result<(WorkUpdate, Verdict)> {
    let verdict = if work.drafts < 3 { Verdict::Rework } else { Verdict::Accept };
    Ok((logged("review"), verdict))
}

#[tokio::test]
async fn route_loops_until_it_leads_to_end() {
    let graph = StateGraph::<Work>::new().edge(START, draft).edge(draft, review).compile().unwrap();
    let work = graph.run(Work::input()).await.unwrap().into_state();
    assert_eq!(work.log, ["draft", "review", "draft", "review", "draft", "review"]);
}

async fn left() -> WorkUpdate {
    logged("left")
}

async fn right() -> WorkUpdate {
    logged("right")
}

#[derive(Route)]
enum Fork {
    #[to(left, right)]
    Both,
}

async fn fork() -> Fork {
    Fork::Both
}

#[tokio::test]
async fn one_variant_leads_to_several_nodes() {
    let graph =
        StateGraph::<Work>::new().edge(START, fork).edge(left, END).edge(right, END).compile().unwrap();
    let work = graph.run(Work::input()).await.unwrap().into_state();
    assert_eq!(work.log, ["left", "right"]);
}

async fn search(query: &Query, work: &Work, _: &Context) -> WorkUpdate {
    logged(format!("{} after {}", query.word, work.log.len()))
}

#[derive(Route)]
enum Plan {
    #[to(search)]
    Search(Query),
    #[to("again")]
    Again(Query),
    #[to(END)]
    Nothing,
}

fn query(word: &str) -> Query {
    Query { word: word.to_owned() }
}

async fn plan() -> Vec<Plan> {
    vec![Plan::Search(query("one")), Plan::Again(query("two")), Plan::Search(query("three"))]
}

#[tokio::test]
async fn each_payload_is_one_task_in_list_order() {
    let graph = StateGraph::<Work>::new()
        .edge(START, plan)
        .edge(search, END)
        .edge(named("again", search), END)
        .compile()
        .unwrap();
    let work = graph.run(Work::input()).await.unwrap().into_state();
    assert_eq!(work.log, ["one after 0", "two after 0", "three after 0"]);
}

fn after_draft(work: &Work) -> Plan {
    // A route function reads the state with the update of its node.
    if work.drafts == 1 { Plan::Search(query("why")) } else { Plan::Nothing }
}

#[tokio::test]
async fn route_function_sends_packets() {
    let graph = StateGraph::<Work>::new()
        .edge(START, draft)
        .route(draft, after_draft)
        .edge(search, draft)
        .node(named("again", search))
        .edge(named("again", search), END)
        .compile()
        .unwrap();
    let work = graph.run(Work::input()).await.unwrap().into_state();
    assert_eq!(work.log, ["draft", "why after 1", "draft"]);
}

#[test]
fn route_to_a_missing_node_does_not_compile() {
    let error = StateGraph::<Work>::new().edge(START, plan).edge(search, END).compile().unwrap_err();
    let text = error.to_string();
    assert!(text.contains("`again`") && text.contains("`plan`"), "{text}");
    assert!(!text.contains("`search`"), "{text}");
}

#[derive(Route)]
enum Elsewhere {
    #[to("draft")]
    WithPacket(Query),
    #[to("search")]
    WithoutPacket,
}

async fn elsewhere() -> Elsewhere {
    Elsewhere::WithoutPacket
}

// The type of a named node is not known to the route, so the graph checks it when it compiles.
#[test]
fn unexpected_payload_for_a_named_node_is_a_wiring_error() {
    let _ = Elsewhere::WithPacket(query("x"));
    let error = StateGraph::<Work>::new()
        .edge(START, elsewhere)
        .edge(named("draft", draft), END)
        .edge(named("search", search), END)
        .compile()
        .unwrap_err();
    let text = error.to_string();
    assert!(text.contains("`draft`") && text.contains("`search`"), "{text}");
}
