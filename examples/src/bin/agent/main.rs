//! An agent with a calculator, a clock and a folder of files, which asks before it deletes one.
//!
//! ```text
//! cargo run -p examples --bin agent
//! cargo run -p examples --bin agent -- --yes
//! ```
//!
//! What it does is kept after every step: the second command answers what the first has asked, in another process. Without an
//! endpoint a model that follows a script stands in for one; with the feature `openai` and `OPENAI_BASE_URL` or
//! `OPENAI_API_KEY` set, a real one is asked.

mod arguments;
mod model;
mod tools;

use std::error::Error;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser as _;
use superstep::messages::{Message, MessagesState};
use superstep::stream::RunStream;
use superstep::{Event, EventKind, Outcome, StreamMode};
use superstep_agent::agent::Agent;
use superstep_agent::tool::Tools;
use superstep_sqlite::SqliteCheckpointer;

use arguments::Arguments;
use tools::{Delete, Folder};

const SYSTEM: &str =
    "You help with sums and with the files of a folder. Call tools for what you do not know.";

#[tokio::main]
async fn main() -> ExitCode {
    match run(Arguments::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            let mut cause = error.source();
            while let Some(error) = cause {
                eprintln!("  because: {error}");
                cause = error.source();
            }
            ExitCode::FAILURE
        }
    }
}

async fn run(arguments: Arguments) -> Result<(), Box<dyn Error>> {
    let home = std::env::temp_dir().join("superstep-agent-example");
    let folder = arguments.folder.clone().map_or_else(|| sample(&home), Ok)?;
    let tools = Tools::new()
        .with(tools::calculate)
        .with(tools::clock)
        .with(tools::search_files)
        .with(tools::delete_file);
    let agent = Agent::with_context(model::from_environment()?).system(SYSTEM).tools(tools);
    let store = SqliteCheckpointer::open(arguments.db.clone().unwrap_or_else(|| home.join("threads.db")))?;
    // Who says something new while a question is open has moved on.
    let graph = agent.graph()?.compile()?.with_checkpointer(store).abandon_pending();
    let thread = graph.thread(arguments.thread.as_str());
    let context = Arc::new(Folder(folder));

    let mut answer = arguments.answer();
    if answer.is_none() {
        let said = arguments.message();
        println!("you     {said}");
        let input = MessagesState::input().messages(said);
        listen(
            thread
                .run(input)
                .context(Arc::clone(&context))
                .events([StreamMode::Messages, StreamMode::Updates])
                .stream(),
        )
        .await?;
    }
    loop {
        let open = thread.interrupts().await?.all::<Delete>()?;
        let Some(question) = open.into_iter().next() else { return Ok(()) };
        println!("asks    may I delete `{}`?", question.file);
        let Some(yes) = answer.take().map_or_else(on_terminal, |yes| Ok(Some(yes)))? else {
            println!("waits   answer with --yes or --no");
            return Ok(());
        };
        let resumed = thread.resume(question.answer(yes)).context(Arc::clone(&context));
        listen(resumed.events([StreamMode::Messages, StreamMode::Updates]).stream()).await?;
    }
}

/// Prints what is said while it is said.
async fn listen(stream: RunStream<MessagesState>) -> Result<Outcome<MessagesState>, Box<dyn Error>> {
    let mut speaking = false;
    let outcome = stream
        .for_each(|event: &Event<MessagesState>| {
            match &event.kind {
                EventKind::Message { chunk, .. } if !chunk.text.is_empty() => {
                    if !std::mem::replace(&mut speaking, true) {
                        print!("agent   ");
                    }
                    print!("{}", chunk.text);
                }
                EventKind::Update { update, .. } => {
                    if std::mem::take(&mut speaking) {
                        println!();
                    }
                    update_lines(update).iter().for_each(|line| println!("{line}"));
                }
                _ => {}
            }
            // A reader that has seen enough is no failure.
            let _ = io::stdout().flush();
        })
        .await?;
    Ok(outcome)
}

/// Which tools are called, and what came of them.
fn update_lines(update: &superstep::messages::MessagesStateUpdate) -> Vec<String> {
    use superstep::messages::{MessageUpdate, MessagesDelta};
    use superstep::state::Update as _;

    let deltas = update.values::<MessagesDelta>(MessagesState::MESSAGES);
    let messages = deltas.flat_map(|delta| delta.updates()).filter_map(|update| match update {
        MessageUpdate::Put(message) => Some(&**message),
        MessageUpdate::Remove(_) => None,
    });
    messages.flat_map(lines).collect()
}

fn lines(message: &Message) -> Vec<String> {
    match message {
        Message::Ai(reply) => {
            let call = |call: &superstep::messages::ToolCall| {
                format!("calls   {} {}", call.name, serde_json::Value::Object(call.args.clone()))
            };
            reply.tool_calls.iter().map(call).collect()
        }
        Message::Tool(result) => {
            let name = result.name.as_deref().unwrap_or_default();
            vec![format!("        {name}: {}", result.content.text().replace('\n', "; "))]
        }
        Message::Human(_) | Message::System(_) => Vec::new(),
    }
}

/// Asks the person at the terminal; `None` where there is none.
fn on_terminal() -> io::Result<Option<bool>> {
    if !(io::stdin().is_terminal() && io::stdout().is_terminal()) {
        return Ok(None);
    }
    print!("        yes or no: ");
    io::stdout().flush()?;
    let mut line = String::new();
    io::stdin().read_line(&mut line)?;
    Ok(Some(line.trim().to_lowercase().starts_with('y')))
}

/// A folder to play with.
fn sample(home: &Path) -> io::Result<PathBuf> {
    let folder = home.join("files");
    std::fs::create_dir_all(&folder)?;
    for (name, text) in [
        ("checkpoints.txt", "A checkpoint is what a thread can be gone on with.\n"),
        ("shopping.txt", "bread, milk\n"),
        ("old.txt", "Nobody needs this any more.\n"),
    ] {
        std::fs::write(folder.join(name), text)?;
    }
    Ok(folder)
}
