//! The program that each case breaks in one place.

use std::fmt::Write;

const NODES: usize = 20;
const PLAIN_FIELDS: usize = 20;

/// Returns a program with a state of 30 fields, 20 nodes that read and write it, and a graph that is compiled and run.
///
/// `params` are the parameters of the state, and `arguments` those with which the nodes use it.
pub(crate) fn program(params: &str, arguments: &str) -> String {
    let mut text = HEAD.to_owned();
    let state = format!("Ticket{arguments}");
    // Writing to a `String` cannot fail.
    let _ = write!(text, "\n#[derive(GraphState, Clone)]\nstruct Ticket{params} {{{FIELDS}");
    for nth in 0..PLAIN_FIELDS {
        let ty = ["String", "Option<u64>", "Vec<u8>"][nth % 3];
        let _ = writeln!(text, "    field{nth}: {ty},");
    }
    text.push_str("}\n");
    for nth in 0..NODES {
        let (result, value) = match nth % 2 {
            0 => (format!("TicketUpdate{arguments}"), "update"),
            _ => (format!("Result<TicketUpdate{arguments}, NodeError>"), "Ok(update)"),
        };
        let _ = write!(
            text,
            "
async fn node{nth}(ticket: &{state}) -> {result} {{
    let subject = ticket.subject.clone();
    tick().await;
    let update = Ticket::update().subject(subject).notes([ticket.question.clone()]).field{nth}(ticket.field{nth}.clone());
    {value}
}}
"
        );
    }
    let _ = write!(
        text,
        "
fn graph() -> Result<Graph<{state}>, superstep::Error> {{
    StateGraph::<{state}>::new()
        .edge(START, node0)\n"
    );
    for nth in 1..NODES {
        let _ = writeln!(text, "        .edge(node{}, node{nth})", nth - 1);
    }
    let _ = write!(
        text,
        "        .edge(node{}, END)
        .compile()
}}

async fn run() -> superstep::Result<()> {{
    let graph = graph()?;
    let done = graph.run(Ticket::input(\"why?\").count(1_u32)).await?;
    drop(done);
    let thread = graph.with_checkpointer(MemoryCheckpointer::new()).thread(\"1\");
    drop(thread.run(Ticket::input(\"why?\")).await?);
    thread.update(Ticket::update().answer(\"because\"), as_node(node3)).await?;
    if let Some(snapshot) = thread.state().await? {{
        drop(snapshot.state);
    }}
    Ok(())
}}

fn main() {{
    drop(run());
}}
",
        NODES - 1
    );
    text
}

const HEAD: &str = "\
use std::collections::{BTreeMap, BTreeSet};

use superstep::checkpoint::MemoryCheckpointer;
use superstep::thread::as_node;
use superstep::{END, Graph, GraphState, NodeError, START, StateGraph};

#[derive(Clone, Default)]
struct Client;

#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
struct NoDefault;

async fn tick() {}
";

const FIELDS: &str = "
    #[state(input)]
    question: String,
    #[state(reducer = append)]
    notes: Vec<String>,
    subject: String,
    #[state(reducer = add, input)]
    count: u32,
    #[state(reducer = union)]
    names: BTreeSet<String>,
    #[state(reducer = merge)]
    prices: BTreeMap<String, u64>,
    #[state(validate(length(max = 80)))]
    comment: String,
    #[state(output)]
    answer: Option<String>,
    #[state(ephemeral)]
    hint: Option<String>,
    #[state(untracked)]
    client: Client,
";
