//! A subgraph with its own state: its input is mapped from the parent state, its result to an update.

use serde::{Deserialize, Serialize};
use superstep::checkpoint::MemoryCheckpointer;
use superstep::subgraph::Subgraph;
use superstep::{ContextWith, END, Graph, GraphState, Route, START, StateGraph};

#[derive(GraphState, Clone, Debug)]
struct Search {
    #[state(input)]
    question: String,
    #[state(reducer = append)]
    found: Vec<String>,
}

async fn look(search: &Search) -> SearchUpdate {
    Search::update().found([format!("{} #{}", search.question, search.found.len())])
}

fn search() -> Graph<Search> {
    StateGraph::<Search>::new().edge(START, look).edge(look, END).compile().unwrap()
}

#[derive(Serialize, Deserialize)]
struct Topic(String);

#[derive(GraphState, Clone, Debug)]
struct Report {
    #[state(input)]
    topics: Vec<String>,
    #[state(reducer = append)]
    notes: Vec<String>,
}

fn report(topics: &[&str]) -> ReportInput {
    Report::input(topics.iter().map(|topic| (*topic).to_owned()).collect::<Vec<_>>())
}

#[tokio::test]
async fn each_packet_is_its_own_call() {
    #[derive(Route)]
    enum Each {
        #[to("research")]
        Research(Topic),
    }
    async fn split(report: &Report) -> Vec<Each> {
        report.topics.iter().map(|topic| Each::Research(Topic(topic.clone()))).collect()
    }
    let research = search().as_node("research").mapped_packet(
        |_: &Report, topic: &Topic| Search::input(topic.0.clone()),
        |done| Report::update().notes(done.state.found),
    );
    let graph = StateGraph::<Report>::new().edge(START, split).edge(&research, END).compile().unwrap();
    let ended = graph.run(report(&["a", "b", "c"])).await.unwrap().into_state();
    assert_eq!(ended.notes, ["a #0", "b #0", "c #0"]);
    // On a thread, each call has its own namespace.
    let thread = graph.with_checkpointer(MemoryCheckpointer::new()).thread("t");
    assert_eq!(thread.run(report(&["a", "b"])).await.unwrap().into_state().notes, ["a #0", "b #0"]);
    let second = thread.within(&research).task(1).state().await.unwrap().unwrap();
    assert_eq!(second.state.unwrap().found, ["b #0"]);
}

fn remembering() -> (Graph<Report>, Subgraph<Search, (), impl superstep::subgraph::WiredTo<Search, Report>>) {
    let research = search()
        .as_node("research")
        .mapped(
            |report: &Report| Search::input(report.topics.join("+")),
            |done| Report::update().notes(done.appended(|search: &Search| &search.found).to_vec()),
        )
        .per_thread();
    let graph = StateGraph::<Report>::new().edge(START, &research).edge(&research, END).compile().unwrap();
    (graph, research)
}

#[tokio::test]
async fn per_thread_call_returns_new_entries_once() {
    let (graph, research) = remembering();
    let thread = graph.with_checkpointer(MemoryCheckpointer::new()).thread("t");
    thread.run(report(&["a"])).await.unwrap();
    thread.run(report(&["b"])).await.unwrap();
    let ended = thread.run(report(&["c"])).await.unwrap().into_state();
    assert_eq!(ended.notes, ["a #0", "b #1", "c #2"]);
    let inner = thread.within(&research).state().await.unwrap().unwrap();
    assert_eq!(inner.state.unwrap().found, ["a #0", "b #1", "c #2"]);
}

#[tokio::test]
async fn fork_continues_with_the_subgraph_state_of_its_branch() {
    let (graph, _) = remembering();
    let thread = graph.with_checkpointer(MemoryCheckpointer::new()).thread("t");
    thread.run(report(&["a"])).await.unwrap();
    let first = thread.state().await.unwrap().unwrap().id;
    thread.run(report(&["b"])).await.unwrap();
    // This branch, including its subgraph state, has nothing of the second run.
    let other = thread.at(first).run(report(&["c"])).await.unwrap().into_state();
    assert_eq!(other.notes, ["a #0", "c #1"]);
    let next = thread.run(report(&["d"])).await.unwrap().into_state();
    assert_eq!(next.notes, ["a #0", "c #1", "d #2"]);
}

#[tokio::test]
async fn each_key_has_its_own_state() {
    let research = search()
        .as_node("research")
        .mapped(
            |report: &Report| Search::input(report.topics.join("+")),
            |done| Report::update().notes(done.appended(|search: &Search| &search.found).to_vec()),
        )
        .keyed(|report: &Report| report.topics.join("/"));
    let graph = StateGraph::<Report>::new().edge(START, &research).edge(&research, END).compile().unwrap();
    let thread = graph.with_checkpointer(MemoryCheckpointer::new()).thread("t");
    for topics in [&["a", "b"][..], &["a/b"], &["a", "b"]] {
        thread.run(report(topics)).await.unwrap();
    }
    let ended = thread.state().await.unwrap().unwrap().state.unwrap();
    // `a` and `b` joined with `/` give the key `a/b`.
    assert_eq!(ended.notes, ["a+b #0", "a/b #1", "a+b #2"]);
    let inner = thread.within(&research).key("a/b").history().await.unwrap();
    assert_eq!(inner.len(), 9);
}

#[tokio::test]
async fn subgraph_context_is_shared_converted_or_absent() {
    async fn ask(_: &Search, shop: &ContextWith<u32>) -> SearchUpdate {
        Search::update().found([format!("shop {}", shop.context())])
    }
    let inner =
        StateGraph::<Search>::with_context::<u32>().edge(START, ask).edge(ask, END).compile().unwrap();
    let map = |report: &Report| Search::input(report.topics.join("+"));
    let same = inner.as_node("same").mapped(map, |done| Report::update().notes(done.state.found));
    let none = search()
        .as_node("none")
        .mapped(map, |done| Report::update().notes(done.state.found))
        .without_context();
    let graph = StateGraph::<Report>::with_context::<u32>()
        .edge(START, &same)
        .edge(&same, &none)
        .edge(&none, END)
        .compile()
        .unwrap();
    let ended = graph.run(report(&["q"])).context(7_u32).await.unwrap().into_state();
    assert_eq!(ended.notes, ["shop 7", "q #0"]);
    let other = inner
        .as_node("other")
        .mapped(map, |done| Report::update().notes(done.state.found))
        .context_from(|name: &String| name.len() as u32);
    let graph = StateGraph::<Report>::with_context::<String>()
        .edge(START, &other)
        .edge(&other, END)
        .compile()
        .unwrap();
    let ended = graph.run(report(&["q"])).context("four".to_owned()).await.unwrap().into_state();
    assert_eq!(ended.notes, ["shop 4"]);
}

#[tokio::test]
async fn concurrent_calls_with_one_key_are_refused() {
    async fn slow(search: &Search) -> SearchUpdate {
        tokio::task::yield_now().await;
        Search::update().found([search.question.clone()])
    }
    #[derive(Route)]
    enum Each {
        #[to("research")]
        Research(Topic),
    }
    async fn split(report: &Report) -> Vec<Each> {
        report.topics.iter().map(|topic| Each::Research(Topic(topic.clone()))).collect()
    }
    let search = StateGraph::<Search>::new().edge(START, slow).edge(slow, END).compile().unwrap();
    let research = search
        .as_node("research")
        .mapped_packet(
            |_: &Report, topic: &Topic| Search::input(topic.0.clone()),
            |done| Report::update().notes(done.appended(|search: &Search| &search.found).to_vec()),
        )
        .keyed_by_packet(|_: &Report, topic: &Topic| topic.0.clone());
    let graph = StateGraph::<Report>::new().edge(START, split).edge(&research, END).compile().unwrap();
    let graph = graph.with_checkpointer(MemoryCheckpointer::new());
    let ended = graph.thread("differ").run(report(&["a", "b"])).await.unwrap().into_state();
    assert_eq!(ended.notes, ["a", "b"]);
    let thread = graph.thread("same");
    let error = thread.run(report(&["a", "a"])).await.unwrap_err();
    assert!(format!("{error:?}").contains("different keys"), "{error:?}");
    // One after the other, the calls succeed.
    let ended = thread.resume(()).max_concurrency(1).await.unwrap().into_state();
    assert_eq!(ended.notes, ["a", "a"]);
}
