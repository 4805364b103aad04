//! A subgraph on the parent state: its writes are its node's update, and each is applied once.

use superstep::subgraph::Subgraph;
use superstep::{
    Context, END, ErrorKind, Graph, GraphState, NodeError, Overwrite, Route, START, StateGraph, named,
};

#[derive(GraphState, Clone, Debug, PartialEq)]
struct Report {
    #[state(input, reducer = append)]
    notes: Vec<String>,
    #[state(reducer = add)]
    total: u32,
    title: Option<String>,
    #[state(ephemeral)]
    hint: Option<String>,
}

fn note(text: impl Into<String>) -> ReportUpdate {
    Report::update().notes([text.into()]).total(1_u32)
}

async fn search(report: &Report) -> ReportUpdate {
    note(format!("search sees {}", report.notes.len())).hint("look".to_owned())
}

async fn read(report: &Report) -> ReportUpdate {
    note(format!("read sees {} {:?}", report.notes.len(), report.hint)).title("read".to_owned())
}

async fn beside(report: &Report) -> ReportUpdate {
    note(format!("beside sees {}", report.notes.len()))
}

async fn last(report: &Report) -> ReportUpdate {
    note(format!("last sees {} {:?}", report.total, report.hint))
}

fn research() -> Subgraph<Report> {
    let graph = StateGraph::<Report>::new().edge(START, search).edge(search, read).edge(read, END);
    graph.compile().unwrap().as_node("research")
}

#[tokio::test]
async fn subgraph_and_sibling_each_add_their_own_writes() {
    let research = research();
    let graph = StateGraph::<Report>::new()
        .edge(START, (&research, beside))
        .join((&research, beside), last)
        .edge(last, END)
        .compile()
        .unwrap();
    let report = graph.run(Report::input().notes(["begin".to_owned()])).await.unwrap().into_state();
    assert_eq!(
        report.notes,
        ["begin", "search sees 1", "read sees 2 Some(\"look\")", "beside sees 1", "last sees 3 None"]
    );
    assert_eq!((report.total, report.title.as_deref()), (4, Some("read")));
}

#[tokio::test]
async fn conflicting_writes_are_reported_with_both_nodes() {
    async fn titled(_: &Report) -> ReportUpdate {
        Report::update().title("mine".to_owned())
    }
    let research = research();
    let graph = StateGraph::<Report>::new()
        .edge(START, (&research, titled))
        .edge(&research, END)
        .edge(titled, END)
        .compile()
        .unwrap();
    let error = graph.run(Report::input()).await.unwrap_err();
    assert!(error.to_string().contains("`research`") && error.to_string().contains("`titled`"), "{error}");
}

#[tokio::test]
async fn overwrite_inside_applies_to_the_parent_state() {
    async fn clear(_: &Report) -> ReportUpdate {
        Report::update().notes(Overwrite(vec!["clean".to_owned()]))
    }
    let inner =
        StateGraph::<Report>::new().edge(START, search).edge(search, clear).edge(clear, read).edge(read, END);
    let inner = inner.compile().unwrap().as_node("inner");
    let graph = StateGraph::<Report>::new().edge(START, &inner).edge(&inner, END).compile().unwrap();
    let report = graph.run(Report::input().notes(["begin".to_owned()])).await.unwrap().into_state();
    assert_eq!(report.notes, ["clean", "read sees 1 None"]);
    assert_eq!(report.total, 2);
}

#[derive(GraphState, Clone, Debug)]
struct Case {
    #[state(flatten)]
    report: Report,
    #[state(reducer = append)]
    papers: Vec<String>,
}

#[tokio::test]
async fn subgraph_runs_on_a_flattened_part_of_the_state() {
    async fn file(case: &Case) -> CaseUpdate {
        Case::update().papers([format!("{} notes", case.report.notes.len())])
    }
    let research = research();
    let graph = StateGraph::<Case>::new()
        .edge(START, &research)
        .edge(&research, file)
        .edge(file, END)
        .compile()
        .unwrap();
    let case = graph.run(Case::input()).await.unwrap().into_state();
    assert_eq!(case.papers, ["2 notes"]);
}

#[tokio::test]
async fn failure_inside_names_subgraph_and_node() {
    async fn fails(_: &Report) -> Result<ReportUpdate, NodeError> {
        Err(std::io::Error::other("no paper").into())
    }
    let inner = StateGraph::<Report>::new().name("inner graph").edge(START, fails).edge(fails, END);
    let inner = inner.compile().unwrap().as_node("inner");
    let graph = StateGraph::<Report>::new().edge(START, &inner).edge(&inner, END).compile().unwrap();
    let error = graph.run(Report::input()).await.unwrap_err();
    let ErrorKind::Node { first, .. } = error.kind() else { panic!("{error}") };
    assert_eq!(first.node, "inner");
    let text = format!("{error:?}");
    assert!(text.contains("`inner`") && text.contains("`fails`") && text.contains("no paper"), "{text}");
}

#[tokio::test]
async fn manual_step_continues_at_the_failed_node() {
    async fn sometimes(_: &Report, cx: &Context) -> Result<ReportUpdate, NodeError> {
        if cx.attempt() == 1 { Err(std::io::Error::other("not yet").into()) } else { Ok(note("at last")) }
    }
    let inner = StateGraph::<Report>::new()
        .edge(START, search)
        .edge(search, sometimes)
        .edge(sometimes, END)
        .compile()
        .unwrap();
    let inner = inner.as_node("inner");
    let graph = StateGraph::<Report>::new().edge(START, &inner).edge(&inner, END).compile().unwrap();
    let mut run = graph.run(Report::input()).start().unwrap();
    assert!(run.step().await.is_err());
    let report = run.finish().await.unwrap().into_state();
    assert_eq!(report.notes, ["search sees 0", "at last"]);
}

#[tokio::test]
async fn recursion_limit_applies_to_each_call() {
    #[derive(Route)]
    enum Again {
        #[to(round)]
        Round,
    }
    async fn round(_: &Report) -> Again {
        Again::Round
    }
    let inner = StateGraph::<Report>::new().edge(START, round).compile().unwrap();
    let limited = inner.as_node("inner").recursion_limit(3);
    let graph = StateGraph::<Report>::new().edge(START, &limited).edge(&limited, END).compile().unwrap();
    let error = graph.run(Report::input()).await.unwrap_err();
    assert!(format!("{error:?}").contains("3"), "{error:?}");
}

#[tokio::test]
async fn endless_recursion_is_an_error() {
    fn endless() -> Graph<Report> {
        let inner = Subgraph::lazy("deeper", endless);
        StateGraph::<Report>::new().edge(START, &inner).edge(&inner, END).compile().unwrap()
    }
    let error = endless().run(Report::input()).await.unwrap_err();
    assert!(format!("{error:?}").contains("deeper/deeper"), "{error:?}");
}

#[tokio::test]
async fn one_graph_can_be_several_nodes() {
    let (one, two) = (research(), named("two", beside));
    let other = StateGraph::<Report>::new().edge(START, beside).edge(beside, END).compile().unwrap();
    let (three, four) = (other.as_node("three"), other.as_node("four"));
    let graph = StateGraph::<Report>::new()
        .edge(START, &one)
        .edge(&one, &two)
        .edge(&two, &three)
        .edge(&three, &four)
        .edge(&four, END)
        .compile()
        .unwrap();
    let report = graph.run(Report::input()).await.unwrap().into_state();
    assert_eq!(report.total, 5);
}
