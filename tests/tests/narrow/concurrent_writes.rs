//! `compile()` refuses two nodes that always run in one superstep and always write one field without a reducer.

use expect_test::expect;
use serde::{Deserialize, Serialize};
use superstep::{
    Context, END, ErrorKind, GraphState, NodeError, Overwrite, Route, START, StateGraph, StateUpdate,
    WiringProblem, named,
};

#[derive(GraphState, Clone)]
struct Chat {
    topic: String,
}

enum Single {}

impl superstep::reducers::Reducer<u8> for Single {
    type Update = u8;
    type Delta = u8;

    const EXCLUSIVE: bool = true;

    fn prepare(
        update: u8,
        _: &superstep::reducers::Stamp<'_>,
    ) -> Result<u8, superstep::reducers::ReduceError> {
        Ok(update)
    }

    fn fold(value: &mut u8, delta: u8) -> Result<(), superstep::reducers::ReduceError> {
        *value += delta;
        Ok(())
    }
}

#[derive(GraphState, Clone)]
struct Ticket {
    answer: String,
    other: String,
    #[state(reducer = append)]
    notes: Vec<String>,
    #[state(reducer = Single)]
    single: u8,
    #[state(flatten)]
    chat: Chat,
}

#[derive(StateUpdate)]
#[update(of = Ticket)]
struct Answered {
    answer: String,
}

#[derive(StateUpdate)]
#[update(of = Ticket)]
struct AlsoNoted {
    notes: [String; 0],
    answer: &'static str,
}

#[derive(StateUpdate)]
#[update(of = Ticket)]
struct Perhaps {
    #[update(skip_none)]
    answer: Option<String>,
}

#[derive(StateUpdate)]
#[update(of = Ticket)]
struct Noted {
    notes: Vec<String>,
    other: String,
}

#[derive(StateUpdate)]
#[update(of = Ticket)]
struct Replaced {
    answer: Overwrite<String>,
    notes: Overwrite<Vec<String>>,
}

#[derive(StateUpdate)]
#[update(of = Ticket)]
struct Single1 {
    single: u8,
}

#[derive(StateUpdate)]
#[update(of = Chat)]
struct Topic {
    topic: String,
}

#[derive(StateUpdate)]
#[update(of = Ticket)]
struct Sorted {
    #[update(flatten)]
    chat: Topic,
}

fn answered() -> Answered {
    Answered { answer: String::new() }
}

async fn before(_: &Ticket) {}
async fn one(_: &Ticket) -> Answered {
    answered()
}
async fn two(_: &Ticket) -> Result<AlsoNoted, NodeError> {
    Ok(AlsoNoted { notes: [], answer: "" })
}
async fn three(_: &Ticket) -> (Answered, Next) {
    (answered(), Next::Done)
}
async fn perhaps(_: &Ticket) -> Perhaps {
    Perhaps { answer: None }
}
async fn note(_: &Ticket) -> Noted {
    Noted { notes: vec![], other: String::new() }
}
async fn replace(_: &Ticket) -> Replaced {
    Replaced { answer: Overwrite(String::new()), notes: Overwrite(vec![]) }
}
async fn whole(_: &Ticket) -> TicketUpdate {
    Ticket::update().answer("whole")
}
async fn single(_: &Ticket) -> Single1 {
    Single1 { single: 1 }
}
async fn topic(_: &Chat) -> Topic {
    Topic { topic: String::new() }
}
async fn sort(_: &Ticket) -> Sorted {
    Sorted { chat: Topic { topic: String::new() } }
}
async fn after(_: &Ticket) {}

#[derive(Route)]
enum Next {
    #[to(one, two)]
    #[expect(dead_code, reason = "the graph is not run")]
    Both,
    #[to(END)]
    Done,
}

fn new() -> StateGraph<Ticket> {
    StateGraph::new()
}

#[track_caller]
fn conflicts(graph: StateGraph<Ticket>) -> Vec<String> {
    match graph.compile() {
        Ok(_) => Vec::new(),
        Err(error) => match error.kind() {
            ErrorKind::Wiring(problems) => {
                let text = |problem: &WiringProblem| match problem {
                    WiringProblem::AlwaysConcurrentWrites { first, second, field, what, .. } => {
                        format!("{first} {second} {what} {field}")
                    }
                    other => panic!("{other}"),
                };
                problems.iter().map(text).collect()
            }
            _ => panic!("{error}"),
        },
    }
}

/// A graph in which these nodes run together after `before`.
macro_rules! together {
    ($($node:ident),+) => {
        new().edge(START, before).edge(before, ($($node,)+))$(.edge($node, END))+
    };
}

#[test]
fn error_names_both_nodes_the_field_and_the_cure() {
    let error = together!(one, two).compile().err().unwrap();
    expect![[r#"
        graph `Ticket`: cannot be built, it has 1 mistake
          nodes `one` and `two` always run in the same superstep, and both write the field `answer`: give the field a reducer with `#[state(reducer = ..)]`, or run `two` later, with `.edge(one, two)` in place of what leads to it now"#]]
    .assert_eq(&error.to_string());
}

#[test]
fn targets_of_one_place_are_refused() {
    let expected = ["one two write answer"];
    assert_eq!(conflicts(together!(one, two)), expected);
    assert_eq!(conflicts(together!(one, note, two)), expected);
    assert_eq!(conflicts(new().edge(START, one).edge(START, two).edge(one, END).edge(two, END)), expected);
    let route = new().edge(START, three).edge(one, END).edge(two, END);
    assert_eq!(conflicts(route), expected);
    let joins = new().edge(START, (before, after)).join((before, after), one).join((after, before), two);
    assert_eq!(conflicts(joins.edge(one, END).edge(two, END)), expected);
    let join = new().edge(START, (before, after)).join_optional((before, after), (one, two));
    assert_eq!(conflicts(join.edge(one, END).edge(two, END)), expected);
    let deferred = together!(one, two).defer(one).defer(two);
    assert_eq!(conflicts(deferred), expected);
}

#[test]
fn update_with_a_route_and_flattened_fields_count() {
    let graph = new().edge(START, (one, three)).edge(one, END).edge(two, END);
    assert_eq!(conflicts(graph), ["one three write answer", "one two write answer"]);
    assert_eq!(conflicts(together!(topic, sort)), ["topic sort write topic"]);
    assert_eq!(conflicts(together!(sort, single, single_too)), ["single single_too write single"]);
}

async fn single_too(_: &Ticket) -> Single1 {
    Single1 { single: 1 }
}

async fn replace_too(_: &Ticket) -> Replaced {
    Replaced { answer: Overwrite(String::new()), notes: Overwrite(vec![]) }
}

#[test]
fn two_overwrites_are_refused_with_their_own_cure() {
    assert_eq!(
        conflicts(together!(replace, replace_too)),
        ["replace replace_too overwrite answer", "replace replace_too overwrite notes"]
    );
    let error = together!(replace, replace_too).compile().err().unwrap().to_string();
    assert!(
        error.contains("both overwrite the field `notes`: let one of them write without `Overwrite`"),
        "{error}"
    );
}

#[test]
fn nodes_that_may_run_without_conflict_are_allowed() {
    let allowed = [
        // Another field, or one with a reducer.
        together!(one, note),
        together!(note, whole),
        // A write that is sometimes left out, and an update that may write anything.
        together!(one, perhaps),
        together!(one, whole),
        // A deferred node runs later.
        together!(one, two).defer(two),
        // One after the other.
        new().edge(START, one).edge(one, two).edge(two, END),
        // Joins that wait for other nodes.
        new()
            .edge(START, (before, after))
            .join((before, after), one)
            .edge(after, two)
            .edge(one, END)
            .edge(two, END),
    ];
    for graph in allowed {
        assert_eq!(conflicts(graph), [""; 0]);
    }
}

#[test]
fn node_that_may_overwrite_the_field_allows_the_others() {
    for graph in [
        together!(one, two, replace),
        together!(one, two, whole),
        // In another branch, in the same superstep.
        new()
            .edge(START, (before, after))
            .edge(before, (one, two))
            .edge(after, whole)
            .edge(one, END)
            .edge(two, END)
            .edge(whole, END),
    ] {
        assert_eq!(conflicts(graph), [""; 0]);
    }
    // It never runs in the superstep of the others.
    let before_them = new().edge(START, whole).edge(whole, (one, two)).edge(one, END).edge(two, END);
    assert_eq!(conflicts(before_them), ["one two write answer"]);
    let after_them = together!(one, two, note).edge(one, whole).edge(whole, END).defer(whole);
    assert_eq!(conflicts(after_them), ["one two write answer"]);
}

/// What is allowed runs, and what is refused would fail: an overwrite in the superstep cancels the other writes.
#[tokio::test]
async fn overwrite_beside_two_writers_runs() {
    let graph = together!(one, two, replace).compile().unwrap();
    assert!(graph.run(Ticket::input()).await.is_ok());
    let graph = together!(one, whole).compile().unwrap();
    let error = graph.run(Ticket::input()).await.err().unwrap();
    assert!(matches!(error.kind(), ErrorKind::WriteConflict { .. }), "{error}");
}

#[derive(Serialize, Deserialize)]
struct Item(u8);

#[derive(Route)]
enum Send {
    #[to(receive)]
    Item(Item),
}

async fn receive(_: &Item, _: &Context) -> Answered {
    answered()
}

async fn send(_: &Ticket) -> Vec<Send> {
    vec![Send::Item(Item(0))]
}

/// Only one packet may be sent.
#[tokio::test]
async fn packets_are_not_certain() {
    let graph = new().edge(START, send).edge(receive, END).compile().unwrap();
    assert!(graph.run(Ticket::input()).await.is_ok());
}

#[test]
fn values_with_names_are_checked() {
    let (first, second) =
        (named("first", async |_: &Ticket| answered()), named("second", async |_: &Ticket| answered()));
    let graph = new().edge(START, (&first, &second)).edge(&first, END).edge(&second, END);
    assert_eq!(conflicts(graph), ["first second write answer"]);
}
