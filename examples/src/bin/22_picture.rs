//! Shows diagrams: a graph and the position of a thread in it, as SVG, Mermaid or dot.
//! Run with `cargo run -p examples --bin 22_picture > ticket.svg`, or with `-- mermaid`, `-- dot` or `-- wide`.

use serde::{Deserialize, Serialize};
use superstep::checkpoint::MemoryCheckpointer;
use superstep::graph::Direction;
use superstep::interrupt::Question;
use superstep::{Context, END, GraphState, Result, Route, START, StateGraph};

#[derive(GraphState, Clone)]
struct Ticket {
    #[state(input)]
    text: String,
    #[state(reducer = append)]
    found: Vec<String>,
}

#[derive(Serialize, Deserialize, Clone)]
struct Source(String);

#[derive(Route)]
enum Plan {
    #[to(search)]
    LookUp(Source),
}

#[derive(Route)]
#[expect(dead_code, reason = "`Reject` is only shown in the diagram")]
enum Verdict {
    #[to(draft)]
    #[route(label = "not yet")]
    Rework,
    #[to(send)]
    Accept,
    #[to(END)]
    Reject,
}

#[derive(Serialize, Deserialize)]
struct Approve;

impl Question for Approve {
    type Answer = bool;
}

async fn plan(_: &Ticket) -> Vec<Plan> {
    ["manual", "tickets"].map(|source| Plan::LookUp(Source(source.to_owned()))).into()
}

async fn search(source: &Source) -> TicketUpdate {
    Ticket::update().found([source.0.clone()])
}

async fn classify(_: &Ticket) {}

async fn draft(_: &Ticket) {}

async fn review(_: &Ticket, cx: &Context) -> Verdict {
    if cx.interrupt(Approve).await { Verdict::Accept } else { Verdict::Rework }
}

async fn send(_: &Ticket) {}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let graph = StateGraph::<Ticket>::new()
        .name("ticket")
        .edge(START, (plan, classify))
        .join((search, classify), draft)
        .edge(draft, review)
        .edge(send, END)
        .defer(draft)
        .compile()?
        .with_checkpointer(MemoryCheckpointer::new());

    let thread = graph.thread("4711");
    thread.run(Ticket::input("my printer is on fire")).await?;

    // The run waits for an answer. The diagram highlights the waiting node.
    let picture = thread
        .picture()
        .await?
        .title("Ticket 4711")
        .note(draft, "calls a model")
        .note(review, "asks a person");
    println!(
        "{}",
        match std::env::args().nth(1).as_deref() {
            Some("mermaid") => picture.to_mermaid()?,
            Some("dot") => picture.to_dot()?,
            Some("wide") => picture.direction(Direction::LeftToRight).to_svg()?,
            _ => picture.to_svg()?,
        }
    );
    Ok(())
}
