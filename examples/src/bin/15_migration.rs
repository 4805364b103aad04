//! Shows how a new version of a program reads old checkpoints: new fields, renamed fields, and fields of another type.
//! Run with `cargo run -p examples --bin 15_migration`.

use std::path::Path;

use serde_json::json;
use superstep::state::{MigrationError, Stored};
use superstep::{END, ErrorKind, GraphState, Result, START, StateGraph};
use superstep_sqlite::SqliteCheckpointer;

/// The old version of the program.
mod old {
    use super::*;

    #[derive(GraphState, Clone, Debug)]
    pub(super) struct Ticket {
        #[state(input)]
        question: String,
        #[state(input)]
        priority: String,
        reply: Option<String>,
    }

    async fn draft(ticket: &Ticket) -> TicketUpdate {
        Ticket::update().reply(format!("About “{}”: yes.", ticket.question))
    }

    pub(super) async fn run(file: &Path) -> Result<()> {
        let graph = StateGraph::<Ticket>::new().edge(START, draft).edge(draft, END).compile()?;
        let thread = graph.with_checkpointer(SqliteCheckpointer::open(file)?).thread("ticket-17");
        thread.run(Ticket::input("Is it on its way?", "high")).await?;
        Ok(())
    }

    /// Returns `true` if the old version refuses a checkpoint of the new version.
    pub(super) async fn refuses(file: &Path) -> Result<bool> {
        let graph = StateGraph::<Ticket>::new().edge(START, draft).edge(draft, END).compile()?;
        let thread = graph.with_checkpointer(SqliteCheckpointer::open(file)?).thread("ticket-17");
        match thread.state().await {
            Ok(_) => Ok(false),
            Err(error) => {
                println!("old version: {error:?}");
                Ok(matches!(error.kind(), ErrorKind::Migration { .. }))
            }
        }
    }
}

/// The state of the new version.
#[derive(GraphState, Clone, Debug)]
#[state(version = 1, migrate = migrate)]
struct Ticket {
    #[state(input)]
    question: String,

    /// Was the string `high` or `low`.
    #[state(input)]
    priority: u8,

    /// Had the name `reply`.
    #[state(alias = "reply")]
    answer: Option<String>,

    /// New: old checkpoints get the default.
    #[state(input, default = "en".to_owned())]
    language: String,
}

fn migrate(from: u32, stored: &mut Stored) -> Result<(), MigrationError> {
    if from < 1 {
        stored.change("priority", |value| Ok(json!(if value == "high" { 9 } else { 1 })))?;
    }
    Ok(())
}

async fn draft(ticket: &Ticket) -> TicketUpdate {
    Ticket::update().answer(format!("[{}] About “{}”: yes.", ticket.language, ticket.question))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("tickets.db");
    old::run(&file).await?;

    let graph = StateGraph::<Ticket>::new().edge(START, draft).edge(draft, END).compile()?;
    let thread = graph.with_checkpointer(SqliteCheckpointer::open(&file)?).thread("ticket-17");
    let Some(ticket) = thread.state().await?.and_then(|snapshot| snapshot.state) else {
        unreachable!("the old version ran this thread")
    };
    println!("{:#}", ticket.dump());
    assert_eq!((ticket.priority, ticket.language.as_str()), (9, "en"));
    assert_eq!(ticket.answer.as_deref(), Some("About “Is it on its way?”: yes."));

    // The thread continues in the new version. The old version then refuses the newer checkpoints.
    let ticket = thread.run(Ticket::input("And now?", 3)).await?.into_state();
    assert_eq!(ticket.answer.as_deref(), Some("[en] About “And now?”: yes."));
    assert!(old::refuses(&file).await?);
    Ok(())
}
