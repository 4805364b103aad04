//! Shows an agent with a calculator, a clock and a folder of files. It asks before it deletes a file.
//! Run with `cargo run -p examples --bin agent`, then with `cargo run -p examples --bin agent -- --yes`.
//!
//! Each step is stored, so the second process can answer the question of the first. By default the agent uses a scripted model. With
//! the feature `openai` and `OPENAI_BASE_URL` or `OPENAI_API_KEY`, it uses a real one.

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
use tools::{Decision, Delete, Folder};

const SYSTEM: &str =
    "You help with calculations and with the files in a folder. Use the tools to find facts you do not know.";

#[tokio::main]
async fn main() -> ExitCode {
    match run(Arguments::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            let mut cause = error.source();
            while let Some(error) = cause {
                eprintln!("  caused by: {error}");
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
    // A new message while a question is open abandons the question.
    let graph = agent.graph()?.compile()?.with_checkpointer(store).abandon_pending();
    let thread = graph.thread(arguments.thread.as_str());
    let context = Arc::new(Folder(folder));

    let mut answer = arguments.answer();
    if answer.is_none() {
        let message = arguments.message();
        println!("you     {message}");
        let input = MessagesState::input().messages(message);
        print_events(
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
        println!("asks    may I delete `{}`?", question.action_request.args.file);
        let Some(yes) = answer.take().map_or_else(ask_on_terminal, |yes| Ok(Some(yes)))? else {
            println!("waits   answer with --yes or --no");
            return Ok(());
        };
        let decision = if yes { Decision::Accept } else { Decision::Ignore };
        let resumed = thread.resume(question.answer(vec![decision])).context(Arc::clone(&context));
        print_events(resumed.events([StreamMode::Messages, StreamMode::Updates]).stream()).await?;
    }
}

/// Prints the tokens of the model and the updates of the nodes as they arrive.
async fn print_events(stream: RunStream<MessagesState>) -> Result<Outcome<MessagesState>, Box<dyn Error>> {
    let mut in_reply = false;
    let outcome = stream
        .for_each(|event: &Event<MessagesState>| {
            match &event.kind {
                EventKind::Message { chunk, .. } if !chunk.text.is_empty() => {
                    if !std::mem::replace(&mut in_reply, true) {
                        print!("agent   ");
                    }
                    print!("{}", chunk.text);
                }
                EventKind::Update { update, .. } => {
                    if std::mem::take(&mut in_reply) {
                        println!();
                    }
                    update_lines(update).iter().for_each(|line| println!("{line}"));
                }
                _ => {}
            }
            // Ignored: a closed stdout, as with `agent | head`, is not an error.
            let _ = io::stdout().flush();
        })
        .await?;
    Ok(outcome)
}

/// Returns the tool calls and tool results of an update as lines.
fn update_lines(update: &superstep::messages::MessagesStateUpdate) -> Vec<String> {
    use superstep::messages::{MessageUpdate, MessagesDelta};
    use superstep::state::Update as _;

    let deltas = update.values::<MessagesDelta>(MessagesState::MESSAGES);
    let messages = deltas.flat_map(|delta| delta.updates()).filter_map(MessageUpdate::message);
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
        _ => Vec::new(),
    }
}

/// Asks at the terminal. Returns `None` without a terminal.
fn ask_on_terminal() -> io::Result<Option<bool>> {
    if !(io::stdin().is_terminal() && io::stdout().is_terminal()) {
        return Ok(None);
    }
    print!("        yes or no: ");
    io::stdout().flush()?;
    let mut line = String::new();
    io::stdin().read_line(&mut line)?;
    Ok(Some(line.trim().to_lowercase().starts_with('y')))
}

/// Creates a sample folder.
fn sample(home: &Path) -> io::Result<PathBuf> {
    let folder = home.join("files");
    std::fs::create_dir_all(&folder)?;
    for (name, text) in [
        ("checkpoints.txt", "A thread can be resumed from a checkpoint.\n"),
        ("shopping.txt", "bread, milk\n"),
        ("old.txt", "This file is obsolete.\n"),
    ] {
        std::fs::write(folder.join(name), text)?;
    }
    Ok(folder)
}
