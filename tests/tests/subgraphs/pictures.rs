//! A picture of a thread marks the nodes inside its subgraphs too, in every format.

use serde::{Deserialize, Serialize};
use superstep::graph::Picture;
use superstep::interrupt::Question;
use superstep::subgraph::{MappedPacket, Subgraph};
use superstep::thread::Thread;
use superstep::{
    Context, ContextWith, END, FailureMode, Graph, GraphState, NodeError, Outcome, Route, START, StateGraph,
    bail,
};

use super::stores::on_every_store;
use super::story::{Probe, Story, StoryUpdate, begin, enter, recording_nodes, say, story};

recording_nodes! { first broken after }

#[derive(Serialize, Deserialize, Debug)]
struct Sure;

impl Question for Sure {
    type Answer = bool;
}

async fn asks(_: &Story, cx: &ContextWith<Probe>) -> Result<StoryUpdate, NodeError> {
    cx.interrupt(Sure).await;
    enter(cx, "asks").await?;
    Ok(say("asks"))
}

/// Returns the marked nodes by their Mermaid names, and asserts that SVG and dot mark the same.
fn marks<S: GraphState, D: Send + Sync + 'static>(picture: &Picture<S, D>) -> Vec<String> {
    let (mermaid, svg, dot) = (picture.to_mermaid(), picture.to_svg().unwrap(), picture.to_dot().unwrap());
    let mermaid = mermaid.unwrap();
    let classes = mermaid.lines().filter_map(|line| line.trim().strip_prefix("class "));
    let classes: Vec<String> = classes.map(str::to_owned).collect();
    let how = |mark: &String| mark.split_once(' ').map(|(_, how)| how.to_owned());
    let titles = svg.split("<title>").skip(2).filter_map(|rest| rest.split_once("</title>"));
    let titles = titles.filter_map(|(title, _)| title.rsplit_once(": ").map(|(_, how)| how.to_owned()));
    let (mut named, mut titled) =
        (classes.iter().filter_map(how).collect::<Vec<_>>(), titles.collect::<Vec<_>>());
    named.sort();
    titled.sort();
    assert_eq!(titled, named, "{svg}");
    assert_eq!(dot.matches("style=filled").count(), classes.len(), "{dot}");
    classes
}

async fn thread_marks<S: GraphState, D: Send + Sync + 'static>(thread: &Thread<S, D>) -> Vec<String> {
    marks(&thread.picture().await.unwrap())
}

fn nested() -> Graph<Story, Probe> {
    let deep = story()
        .edge(START, (first, asks, broken))
        .join((first, asks, broken), after)
        .edge(after, END)
        .on_failure(FailureMode::Collect);
    let deep = deep.compile().unwrap().as_node("deep");
    let middle = story().edge(START, &deep).edge(&deep, END).compile().unwrap().as_node("middle");
    story().edge(START, &middle).edge(&middle, after).edge(after, END).compile().unwrap()
}

#[tokio::test]
async fn marks_reach_nested_subgraphs() {
    on_every_store(async |store| {
        let probe = std::sync::Arc::new(Probe::default());
        probe.set_failing(&["broken"]);
        assert!(thread_marks(&store.thread(&nested())).await.is_empty());
        let run = store.thread(&nested()).run(begin("x")).context(std::sync::Arc::clone(&probe));
        run.on_failure(FailureMode::Collect).await.unwrap_err();
        let thread = store.thread(&nested());
        assert_eq!(
            thread_marks(&thread).await,
            ["n0 failed", "n0_n0 failed", "n0_n0_n0 finished", "n0_n0_n1 waiting", "n0_n0_n2 failed"]
        );
        // A snapshot alone has no calls: it only shows that the run waits for an answer.
        let snapshot = thread.state().await.unwrap().unwrap();
        assert_eq!(marks(&nested().picture().at(&snapshot)), ["n0 waiting"]);

        probe.set_failing(&[]);
        let run = thread.resume(()).context(std::sync::Arc::clone(&probe)).await.unwrap();
        assert!(matches!(run, Outcome::Interrupted(_)));
        assert_eq!(
            thread_marks(&store.thread(&nested())).await,
            ["n0 waiting", "n0_n0 waiting", "n0_n0_n0 finished", "n0_n0_n1 waiting", "n0_n0_n2 finished"]
        );
        let asked = thread.interrupts().await.unwrap().only::<Sure>().unwrap();
        let run = thread.resume(asked.answer(true)).context(std::sync::Arc::clone(&probe));
        run.interrupt_before(after).await.unwrap();
        // The finished call leaves no marks.
        assert_eq!(thread_marks(&store.thread(&nested())).await, ["n1 planned"]);
        thread.resume(()).context(probe).await.unwrap();
        assert!(thread_marks(&thread).await.is_empty());
    })
    .await;
}

#[tokio::test]
async fn breakpoint_inside_is_marked_at_its_node() {
    on_every_store(async |store| {
        let inner = story().edge(START, first).edge(first, after).edge(after, END).interrupt_before(after);
        let inner = inner.compile().unwrap().as_node("inner");
        let graph = story().edge(START, &inner).edge(&inner, END).compile().unwrap();
        store.thread(&graph).run(begin("x")).context(Probe::default()).await.unwrap();
        assert_eq!(thread_marks(&store.thread(&graph)).await, ["n0 planned", "n0_n1 planned"]);

        // A renamed node keeps its calls through the alias.
        let inner = story().edge(START, first).edge(first, after).edge(after, END).compile().unwrap();
        let inner = inner.as_node("renamed");
        let graph = story().edge(START, &inner).edge(&inner, END).alias(&inner, "inner").compile().unwrap();
        assert_eq!(thread_marks(&store.thread(&graph)).await, ["n0 planned", "n0_n1 planned"]);
    })
    .await;
}

#[tokio::test]
async fn unstored_and_lazy_subgraphs_are_marked_as_one_node() {
    on_every_store(async |store| {
        let inner = || story().edge(START, asks).edge(asks, END).compile().unwrap();
        let unstored = inner().as_node("inner").unstored();
        let graph = story().edge(START, &unstored).edge(&unstored, END).compile().unwrap();
        let thread = store.thread(&graph);
        thread.run(begin("x")).context(Probe::default()).await.unwrap();
        assert_eq!(thread_marks(&thread).await, ["n0 waiting"]);
        let lazy = Subgraph::lazy("inner", inner);
        let graph = story().edge(START, &lazy).edge(&lazy, END).compile().unwrap();
        thread.delete().await.unwrap();
        store.thread(&graph).run(begin("x")).context(Probe::default()).await.unwrap();
        assert_eq!(thread_marks(&store.thread(&graph)).await, ["n0 waiting"]);
    })
    .await;
}

#[derive(GraphState, Clone, Debug)]
struct Search {
    #[state(input)]
    question: String,
    #[state(reducer = append)]
    found: Vec<String>,
}

/// Finds questions that begin with `a`, asks about those with `b`, and fails otherwise.
async fn look(search: &Search, cx: &Context) -> Result<SearchUpdate, NodeError> {
    match search.question.get(..1) {
        Some("a") => {}
        Some("b") => drop(cx.interrupt(Sure).await),
        _ => bail!("nothing is found"),
    }
    Ok(Search::update().found([search.question.clone()]))
}

async fn read(_: &Search, cx: &Context) {
    cx.interrupt(Sure).await;
}

fn search() -> Graph<Search> {
    StateGraph::<Search>::new().edge(START, look).edge(look, read).edge(read, END).compile().unwrap()
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

#[derive(Route)]
enum Each {
    #[to("research")]
    Research(Topic),
}

async fn split(report: &Report) -> Vec<Each> {
    report.topics.iter().map(|topic| Each::Research(Topic(topic.clone()))).collect()
}

async fn marks_after_run(thread: Thread<Report>, topics: &[&str]) -> Vec<String> {
    let topics: Vec<String> = topics.iter().map(|topic| (*topic).to_owned()).collect();
    let _ = thread.run(Report::input(topics)).on_failure(FailureMode::Collect).abandon_pending().await;
    thread_marks(&thread).await
}

type ByPacket<I, B> = Subgraph<Search, (), MappedPacket<Report, Topic, I, B, ReportUpdate>>;

#[tokio::test]
async fn marks_of_several_packets_are_combined() {
    async fn check<I, B>(research: ByPacket<I, B>)
    where
        I: Fn(&Report, &Topic) -> SearchInput + Send + Sync + 'static,
        B: Fn(superstep::subgraph::CallResult<Search>) -> ReportUpdate + Send + Sync + 'static,
    {
        let graph = StateGraph::<Report>::new().edge(START, split).edge(&research, END).compile().unwrap();
        on_every_store(async |store| {
            let thread = || store.thread(&graph);
            assert_eq!(marks_after_run(thread(), &["a"]).await, ["n1 waiting", "n1_n1 waiting"]);
            assert_eq!(
                marks_after_run(thread(), &["a", "b1", "b2"]).await,
                ["n1 waiting", "n1_n0 waiting", "n1_n1 waiting"]
            );
            assert_eq!(
                marks_after_run(thread(), &["c", "b", "a"]).await,
                ["n1 failed", "n1_n0 failed", "n1_n1 waiting"]
            );
        })
        .await;
    }
    let research = || {
        search().as_node("research").mapped_packet(
            |_: &Report, topic: &Topic| Search::input(topic.0.clone()),
            |done| Report::update().notes(done.state.found),
        )
    };
    check(research()).await;
    check(research().keyed_by_packet(|_, topic| format!("{}/{}", topic.0, topic.0))).await;
}

#[tokio::test]
async fn keyed_call_is_marked_by_its_key() {
    let research = |key: fn(&Report) -> String| {
        let research = search().as_node("research").mapped(
            |report: &Report| Search::input(report.topics.concat()),
            |done| Report::update().notes(done.state.found),
        );
        let research = research.keyed(key);
        StateGraph::<Report>::new().edge(START, &research).edge(&research, END).compile().unwrap()
    };
    on_every_store(async |store| {
        let graph = research(|report| report.topics.join("/"));
        assert_eq!(marks_after_run(store.thread(&graph), &["a", "b"]).await, ["n0 waiting", "n0_n1 waiting"]);
        assert_eq!(marks_after_run(store.thread(&graph), &["b"]).await, ["n0 waiting", "n0_n0 waiting"]);
        // A panic in the key function fails the task, not the picture.
        let graph = research(|_| panic!("no key"));
        assert_eq!(thread_marks(&store.thread(&graph)).await, ["n0 waiting"]);
        assert_eq!(marks_after_run(store.thread(&graph), &["a"]).await, ["n0 failed"]);
    })
    .await;
}
