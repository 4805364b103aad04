//! Names of nodes.

use superstep::WiringProblem;
use superstep::{Context, END, ErrorKind, GraphState, Node, START, StateGraph, named};

#[derive(GraphState, Clone)]
struct Log {
    #[state(reducer = append)]
    lines: Vec<String>,
}

struct Say(&'static str);

impl Node for Say {
    type Reads = Log;
    type Output = LogUpdate;

    async fn run(&self, _: &Log, _: &Context) -> LogUpdate {
        Log::update().lines([self.0.to_owned()])
    }
}

async fn work(_: &Log) -> LogUpdate {
    Log::update().lines(["work".to_owned()])
}

#[tokio::test]
async fn same_name_refers_to_the_same_node() {
    let (say, again) = (named("say", Say("one")), named("again", work));
    let graph = StateGraph::<Log>::new()
        .edge(START, &say)
        .edge(say.clone(), work)
        .edge(work, again)
        .edge(named("again", work), END)
        .compile()
        .unwrap();
    assert_eq!(graph.nodes().collect::<Vec<_>>(), ["say", "work", "again"]);
    let log = graph.run(Log::input()).await.unwrap().into_state();
    assert_eq!(log.lines, ["one", "work", "work"]);
}

#[test]
fn two_values_with_one_name_are_refused() {
    let error = StateGraph::<Log>::new()
        .edge(START, named("say", Say("one")))
        .edge(named("say", Say("two")), END)
        .compile()
        .unwrap_err();
    let ErrorKind::Wiring(problems) = error.kind() else { panic!("{error}") };
    assert!(
        matches!(&problems[..], [.., WiringProblem::DuplicateName { name, .. }] if name == "say"),
        "{error}"
    );
}

#[test]
fn node_value_with_data_needs_a_name() {
    let error = StateGraph::<Log>::new().edge(START, Say("one")).compile().unwrap_err();
    assert!(error.to_string().contains("has no name of its own: wrap it in `named(\"..\", ..)`"), "{error}");
    let error = StateGraph::<Log>::new().edge(START, async |_: &Log| ()).compile().unwrap_err();
    assert!(error.to_string().contains("has no name of its own"), "{error}");
}
