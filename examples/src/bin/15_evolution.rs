//! Checkpoints outlive the program that wrote them. The next version opens them: new fields have their start value, an alias
//! finds renamed ones, and a migration brings up what has another type.

use std::path::Path;

use serde_json::json;
use superstep::state::{MigrationError, Stored};
use superstep::{END, ErrorKind, GraphState, Result, START, StateGraph};
use superstep_sqlite::SqliteCheckpointer;

/// Last year's program.
mod before {
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

    /// It meets what only the new program can read.
    pub(super) async fn is_refused(file: &Path) -> Result<bool> {
        let graph = StateGraph::<Ticket>::new().edge(START, draft).edge(draft, END).compile()?;
        let thread = graph.with_checkpointer(SqliteCheckpointer::open(file)?).thread("ticket-17");
        match thread.state().await {
            Ok(_) => Ok(false),
            Err(error) => {
                println!("last year's program: {error:?}");
                Ok(matches!(error.kind(), ErrorKind::Migration { .. }))
            }
        }
    }
}

/// This year's.
#[derive(GraphState, Clone, Debug)]
#[state(version = 1, migrate = migrate)]
struct Ticket {
    #[state(input)]
    question: String,

    /// Was `high` or `low`.
    #[state(input)]
    priority: u8,

    /// Was called `reply`.
    #[state(alias = "reply")]
    answer: Option<String>,

    /// Was not there.
    #[state(input, default = "en".to_owned())]
    language: String,
}

fn migrate(from: u32, stored: &mut Stored) -> Result<(), MigrationError> {
    if from < 1 {
        stored.change("priority", |old| Ok(json!(if old == "high" { 9 } else { 1 })))?;
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
    before::run(&file).await?;

    let graph = StateGraph::<Ticket>::new().edge(START, draft).edge(draft, END).compile()?;
    let thread = graph.with_checkpointer(SqliteCheckpointer::open(&file)?).thread("ticket-17");
    let Some(ticket) = thread.state().await?.and_then(|snapshot| snapshot.state) else {
        unreachable!("it was run last year")
    };
    println!("{:#}", ticket.dump());
    assert_eq!((ticket.priority, ticket.language.as_str()), (9, "en"));
    assert_eq!(ticket.answer.as_deref(), Some("About “Is it on its way?”: yes."));

    // The thread goes on as if it had always been so. There is no way back: what is newer than a program is refused.
    let ticket = thread.run(Ticket::input("And now?", 3)).await?.into_state();
    assert_eq!(ticket.answer.as_deref(), Some("[en] About “And now?”: yes."));
    assert!(before::is_refused(&file).await?);
    Ok(())
}
