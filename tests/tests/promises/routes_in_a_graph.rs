//! A run goes where a node's route says, and a payload goes with it.

use serde::{Deserialize, Serialize};
use superstep::{Context, END, GraphState, Result, Route, START, StateGraph, named};

#[derive(GraphState, Clone, Default)]
struct Work {
    #[state(reducer = append)]
    log: Vec<String>,
    drafts: u32,
}

fn said(text: impl Into<String>) -> WorkUpdate {
    Work::update().log([text.into()])
}

#[derive(Serialize, Deserialize)]
struct Query {
    word: String,
}

async fn draft(work: &Work) -> WorkUpdate {
    said("draft").drafts(work.drafts + 1)
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
    Ok((said("review"), verdict))
}

#[tokio::test]
async fn a_route_leads_back_until_it_leads_out() {
    let graph = StateGraph::<Work>::new().edge(START, draft).edge(draft, review).compile().unwrap();
    let work = graph.run(Work::input()).await.unwrap().into_state();
    assert_eq!(work.log, ["draft", "review", "draft", "review", "draft", "review"]);
}

async fn left() -> WorkUpdate {
    said("left")
}

async fn right() -> WorkUpdate {
    said("right")
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
    said(format!("{} after {}", query.word, work.log.len()))
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
async fn each_payload_is_a_task_and_their_order_is_that_of_the_list() {
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
    // A route function reads the state with the update of the node before it.
    if work.drafts == 1 { Plan::Search(query("why")) } else { Plan::Nothing }
}

#[tokio::test]
async fn a_route_function_sends_as_well() {
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
fn a_route_to_a_node_that_the_graph_lacks_does_not_compile() {
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

// A name is no function, so what it leads to is looked at when the graph is compiled.
#[test]
fn a_payload_that_a_named_node_does_not_take_is_a_wiring_mistake() {
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
