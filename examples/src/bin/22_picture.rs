//! A graph draws itself: as an SVG image, a Mermaid flowchart or in dot, and with where a thread is.
//!
//! `cargo run -p examples --bin 22_picture > ticket.svg`, and `-- mermaid` or `-- dot` for the others.

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
struct Place(String);

#[derive(Route)]
enum Plan {
    #[to(search)]
    LookUp(Place),
}

#[derive(Route)]
#[expect(dead_code, reason = "nobody rejects anything here, and the picture shows that one could")]
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
    ["manual", "tickets"].map(|place| Plan::LookUp(Place(place.to_owned()))).into()
}

async fn search(place: &Place) -> TicketUpdate {
    Ticket::update().found([place.0.clone()])
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

    // The run waits for an answer, and the picture shows where.
    let picture = thread
        .picture()
        .await?
        .title("Ticket 4711")
        .note(draft, "asks a model")
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
