//! A subgraph writes what its nodes write.

use superstep::subgraph::{ParentCommand, Subgraph};
use superstep::{
    END, ErrorKind, Graph, GraphState, NodeFailure, Overwrite, Route, START, StateGraph, StateUpdate,
};

#[derive(GraphState, Clone)]
struct Chat {
    topic: String,
    #[state(ephemeral)]
    hint: String,
    #[state(reducer = append)]
    lines: Vec<String>,
}

#[derive(GraphState, Clone)]
struct Ticket {
    answer: String,
    #[state(flatten)]
    chat: Chat,
}

#[derive(StateUpdate)]
#[update(of = Chat)]
struct Topic {
    topic: &'static str,
    lines: Vec<String>,
}

#[derive(StateUpdate)]
#[update(of = Chat)]
struct Hint {
    hint: &'static str,
}

#[derive(StateUpdate)]
#[update(of = Chat)]
struct NewTopic {
    topic: Overwrite<String>,
}

#[derive(StateUpdate)]
#[update(of = Ticket)]
struct Answered {
    answer: &'static str,
}

async fn nothing(_: &Chat) {}
async fn topic(_: &Chat) -> Topic {
    Topic { topic: "a", lines: vec![] }
}
async fn hint(_: &Chat) -> Hint {
    Hint { hint: "h" }
}
async fn new_topic(_: &Chat) -> NewTopic {
    NewTopic { topic: Overwrite("b".to_owned()) }
}
async fn whole(_: &Chat) -> ChatUpdate {
    Chat::update()
}
async fn route(_: &Chat) -> Way {
    Way::End
}
async fn beside(_: &Chat) -> Topic {
    Topic { topic: "c", lines: vec![] }
}
async fn beside_hint(_: &Chat) -> Hint {
    Hint { hint: "i" }
}
async fn command(_: &Chat) -> Option<ParentCommand<Ticket>> {
    None
}

#[derive(Route)]
enum Way {
    #[to(topic)]
    #[expect(dead_code, reason = "the graph is not run")]
    Topic,
    #[to(END)]
    End,
}

fn inner() -> StateGraph<Chat> {
    StateGraph::new()
}

/// Returns the conflicts of a subgraph with the node `beside` of the parent graph.
#[track_caller]
fn conflicts(subgraph: StateGraph<Chat>) -> Vec<String> {
    conflicts_of(&subgraph.compile().unwrap().as_node("inner"))
}

#[track_caller]
fn conflicts_of(subgraph: &Subgraph<Chat>) -> Vec<String> {
    let graph = StateGraph::<Ticket>::new()
        .edge(START, (subgraph, beside, beside_hint))
        .edge(subgraph, END)
        .edge(beside, END)
        .edge(beside_hint, END);
    match graph.compile() {
        Ok(_) => Vec::new(),
        Err(error) => match error.kind() {
            ErrorKind::Wiring(problems) => problems.iter().map(|problem| problem.to_string()).collect(),
            _ => panic!("{error}"),
        },
    }
}

#[test]
fn certain_write_inside_is_a_write_of_the_subgraph() {
    for graph in [
        inner().edge(START, topic).edge(topic, END),
        inner().edge(START, nothing).edge(nothing, topic).edge(topic, END),
        inner().edge(START, (nothing, hint)).join((nothing, hint), topic).edge(topic, END),
    ] {
        let problems = conflicts(graph);
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(
            problems[0].contains("`inner` and `beside`") && problems[0].contains("`topic`"),
            "{problems:?}"
        );
    }
}

#[test]
fn nested_subgraph_counts() {
    let nested = inner().edge(START, topic).edge(topic, END).compile().unwrap().as_node("nested");
    assert_eq!(conflicts(inner().edge(START, &nested).edge(&nested, END)).len(), 1);
}

async fn give_up(_: &Chat, _: &NodeFailure) -> Hint {
    Hint { hint: "failed" }
}

#[test]
fn uncertain_writes_inside_are_allowed() {
    for graph in [
        // The route may not lead there.
        inner().edge(START, route).edge(topic, END),
        // An ephemeral field may be cleared before the call returns.
        inner().edge(START, hint).edge(hint, END),
        // One of two ways of writing, and which one is the last is not known.
        inner().edge(START, topic).edge(topic, new_topic).edge(new_topic, END),
        inner().edge(START, topic).edge(topic, whole).edge(whole, END),
        // A command ends the graph early.
        inner().edge(START, command).edge(command, topic).edge(topic, END),
        inner().edge(START, topic).edge(topic, END).on_error(topic, give_up),
    ] {
        assert_eq!(conflicts(graph), [""; 0]);
    }
}

#[test]
fn lazy_subgraph_is_unknown() {
    fn graph() -> Graph<Chat> {
        inner().edge(START, topic).edge(topic, END).compile().unwrap()
    }
    assert_eq!(conflicts_of(&Subgraph::lazy("inner", graph)), [""; 0]);
}

#[test]
fn mapped_subgraph_writes_what_its_result_writes() {
    async fn answer(_: &Ticket) -> Answered {
        Answered { answer: "a" }
    }
    let mapped = |graph: StateGraph<Chat>| {
        let inner = graph.compile().unwrap().as_node("inner");
        let inner = inner.mapped(|_: &Ticket| Chat::input(), |_| Answered { answer: "b" });
        let graph =
            StateGraph::<Ticket>::new().edge(START, (&inner, answer)).edge(&inner, END).edge(answer, END);
        graph.compile().is_err()
    };
    assert!(mapped(inner().edge(START, whole).edge(whole, END)));
    // A parent command replaces the result.
    assert!(!mapped(inner().edge(START, command).edge(command, END)));
}

/// What is refused would fail.
#[tokio::test]
async fn conflict_with_a_subgraph_fails_the_run() {
    async fn same(_: &Chat) -> ChatUpdate {
        Chat::update().topic("d")
    }
    let subgraph = inner().edge(START, topic).edge(topic, END).compile().unwrap().as_node("inner");
    let graph =
        StateGraph::<Ticket>::new().edge(START, (&subgraph, same)).edge(&subgraph, END).edge(same, END);
    let error = graph.compile().unwrap().run(Ticket::input()).await.err().unwrap();
    assert!(matches!(error.kind(), ErrorKind::WriteConflict { .. }), "{error}");
}
