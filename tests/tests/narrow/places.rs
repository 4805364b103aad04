//! The places that take an update take a narrow one.

use serde::{Deserialize, Serialize};
use superstep::checkpoint::MemoryCheckpointer;
use superstep::machine::{End, Machine};
use superstep::subgraph::ParentCommand;
use superstep::thread::{as_node, keep_plan};
use superstep::{
    Context, END, ErrorKind, GraphState, Node, NodeError, NodeFailure, Route, START, StateGraph, StateUpdate,
    named,
};
use superstep_agent::tool::{IntoToolOutput, ToolReply};

#[derive(GraphState, Clone)]
struct Chat {
    #[state(reducer = append)]
    lines: Vec<String>,
}

#[derive(GraphState, Clone)]
struct Ticket {
    question: String,
    answer: Option<String>,
    #[state(flatten)]
    chat: Chat,
}

#[derive(StateUpdate)]
#[update(of = Ticket)]
struct Answered {
    answer: String,
}

#[derive(StateUpdate)]
#[update(of = Chat)]
struct Said {
    lines: [String; 1],
}

fn said(text: &str) -> Said {
    Said { lines: [text.to_owned()] }
}

#[derive(Route)]
enum Next {
    #[to(repeat)]
    Repeat(String),
    #[to(failing)]
    Fail,
    #[to(END)]
    Done,
}

async fn alone(_: &Ticket) -> Answered {
    Answered { answer: "alone".to_owned() }
}

async fn of_a_part(chat: &Chat) -> Result<Said, NodeError> {
    Ok(said(&format!("line {}", chat.lines.len())))
}

async fn with_route(ticket: &Ticket) -> (Answered, Next) {
    let next = match ticket.question.as_str() {
        "fail" => Next::Fail,
        "repeat" => Next::Repeat("again".to_owned()),
        _ => Next::Done,
    };
    (Answered { answer: "routed".to_owned() }, next)
}

async fn repeat(word: &str, _: &Context) -> Result<(Said, Next), NodeError> {
    Ok((said(word), Next::Done))
}

async fn failing(_: &Ticket) -> Result<Answered, std::fmt::Error> {
    Err(std::fmt::Error)
}

struct Struct;

impl Node for Struct {
    type Reads = Ticket;
    type Output = Said;

    async fn run(&self, _: &Ticket, _: &Context) -> Said {
        said("struct")
    }
}

fn graph() -> StateGraph<Ticket> {
    StateGraph::<Ticket>::new()
        .edge(START, alone)
        .edge(alone, of_a_part)
        .edge(of_a_part, Struct)
        .edge(Struct, with_route)
        .node(repeat)
        .edge(failing, END)
}

async fn run(question: &str) -> Result<Ticket, superstep::Error> {
    let graph = graph().compile()?;
    Ok(graph.run(Ticket::input().question(question)).await?.into_state())
}

#[tokio::test]
async fn node_returns_a_narrow_update_in_every_form() {
    let ticket = run("").await.unwrap();
    assert_eq!(ticket.answer.as_deref(), Some("routed"));
    assert_eq!(ticket.chat.lines, ["line 0", "struct"]);
    assert_eq!(run("repeat").await.unwrap().chat.lines, ["line 0", "struct", "again"]);
    let error = run("fail").await.err().unwrap();
    assert!(matches!(error.kind(), ErrorKind::Node { .. }), "{error}");
}

#[tokio::test]
async fn closure_and_error_handler_return_one() {
    async fn handle(_: &Ticket, _: &NodeFailure) -> Answered {
        Answered { answer: "handled".to_owned() }
    }
    let first = named("first", async |_: &Ticket| said("closure"));
    let graph = StateGraph::<Ticket>::new()
        .edge(START, &first)
        .edge(&first, failing)
        .edge(failing, END)
        .on_error(failing, handle)
        .compile()
        .unwrap();
    let ticket = graph.run(Ticket::input()).await.unwrap().into_state();
    assert_eq!(
        (ticket.answer.as_deref(), ticket.chat.lines.as_slice()),
        (Some("handled"), ["closure".to_owned()].as_slice())
    );
}

#[tokio::test]
async fn thread_takes_one() {
    let graph = graph().compile().unwrap().with_checkpointer(MemoryCheckpointer::new());
    let thread = graph.thread("t");
    thread.run(Ticket::input().question("first")).await.unwrap();
    thread.update(said("from outside"), keep_plan()).await.unwrap();
    thread.bulk_update([[(Answered { answer: "edited".to_owned() }, as_node(END))]]).await.unwrap();
    let ticket = thread.state().await.unwrap().unwrap().state.unwrap();
    assert_eq!(ticket.answer.as_deref(), Some("edited"));
    assert_eq!(ticket.chat.lines, ["line 0", "struct", "from outside"]);
}

#[tokio::test]
async fn subgraphs_return_one() {
    #[derive(GraphState, Clone)]
    struct Inner {
        #[state(input)]
        text: String,
    }
    #[derive(StateUpdate)]
    #[update(of = Inner)]
    struct Louder {
        text: String,
    }
    async fn louder(inner: &Inner) -> Louder {
        Louder { text: inner.text.to_uppercase() }
    }
    async fn tell(_: &Chat) -> Said {
        said("inside")
    }
    async fn command(_: &Chat) -> ParentCommand<Ticket> {
        ParentCommand::update(Answered { answer: "commanded".to_owned() })
    }
    let mapped = StateGraph::<Inner>::new().edge(START, louder).edge(louder, END).compile().unwrap();
    let mapped = mapped.as_node("mapped").mapped(
        |ticket: &Ticket| Inner::input(ticket.question.clone()),
        |done| Answered { answer: done.state.text },
    );
    let shared =
        StateGraph::<Chat>::new().edge(START, tell).edge(tell, END).compile().unwrap().as_node("shared");
    let last =
        StateGraph::<Chat>::new().edge(START, command).edge(command, END).compile().unwrap().as_node("last");
    let graph = StateGraph::<Ticket>::new().edge(START, &mapped).edge(&mapped, &shared).edge(&shared, END);
    let ticket = graph.compile().unwrap().run(Ticket::input().question("q")).await.unwrap().into_state();
    assert_eq!(
        (ticket.answer.as_deref(), ticket.chat.lines.as_slice()),
        (Some("Q"), ["inside".to_owned()].as_slice())
    );

    let graph = StateGraph::<Ticket>::new().edge(START, &last).edge(&last, END).compile().unwrap();
    let ticket = graph.run(Ticket::input()).await.unwrap().into_state();
    assert_eq!(ticket.answer.as_deref(), Some("commanded"));
}

#[derive(Machine)]
#[machine(nodes(Begin), state = Ticket, output = u8)]
struct Desk;

#[derive(Serialize, Deserialize)]
struct Begin;

impl Begin {
    async fn run(&self) -> (Answered, End<u8>) {
        (Answered { answer: "machine".to_owned() }, End(3))
    }
}

#[tokio::test]
async fn node_of_a_machine_returns_one() {
    let run = Desk::compile().unwrap().run_with(Begin, Ticket::input()).await.unwrap();
    let ended = run.ended().unwrap();
    assert_eq!((ended.output, ended.state.answer.as_deref()), (3, Some("machine")));
}

#[test]
fn tool_returns_one() {
    let output = IntoToolOutput::<Ticket>::into_tool_output(("content", said("tool"))).unwrap();
    assert!(output.update.is_some());
    let reply = ToolReply::new("content").update(said("tool"));
    assert!(IntoToolOutput::<Ticket>::into_tool_output(reply).unwrap().update.is_some());
}
