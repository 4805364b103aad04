//! Shows a question with reminders and an escalation, answered from the link in the first mail. The worker process is killed
//! between two reminders, and another one continues.
//! Run with `cargo run -p examples --bin 26_reminders`.

use std::error::Error;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use superstep::interrupt::Question;
use superstep::thread::{PersistentGraph, ThreadStatus};
use superstep::{Context, ContextWith, END, ErrorKind, GraphState, Result, START, StateGraph};
use superstep_sqlite::SqliteCheckpointer;

/// A day of this program.
const DAY: Duration = Duration::from_millis(300);

#[derive(GraphState, Clone)]
struct Claim {
    #[state(input)]
    number: u32,
    approved: Option<bool>,
}

#[derive(Serialize, Deserialize)]
struct Approve {
    claim: u32,
}

impl Question for Approve {
    type Answer = bool;
}

/// The folder with the file of the threads and the mails.
struct Office(std::path::PathBuf);

impl Office {
    /// Sends a mail, by appending it to a file. A mail that was sent before is not sent again.
    async fn mail(&self, text: String) -> std::io::Result<()> {
        if self.mails().contains(&text) {
            return Ok(());
        }
        let mut mails = fs::File::options().create(true).append(true).open(self.0.join("mails"))?;
        writeln!(mails, "{text}")
    }

    fn mails(&self) -> Vec<String> {
        let mails = fs::read_to_string(self.0.join("mails")).unwrap_or_default();
        mails.lines().map(str::to_owned).collect()
    }
}

async fn approval(claim: &Claim, cx: &ContextWith<Office>) -> Result<ClaimUpdate> {
    let mail = |key: &'static str| cx.step(key, cx.context().mail(format!("{key}: claim {}", claim.number)));
    mail("request").await?;
    for reminder in ["first reminder", "second reminder", "third reminder"] {
        let question = Approve { claim: claim.number };
        if let Some(approved) = cx.interrupt(question).keyed("approval").within(DAY).await {
            return Ok(Claim::update().approved(approved));
        }
        mail(reminder).await?;
    }
    mail("escalation to the manager").await?;
    let approved = ask(claim, cx).await;
    Ok(Claim::update().approved(approved))
}

/// Asks without a deadline.
async fn ask(claim: &Claim, cx: &Context) -> bool {
    cx.interrupt(Approve { claim: claim.number }).keyed("approval").await
}

fn graph(folder: &Path) -> std::result::Result<PersistentGraph<Claim, Office>, Box<dyn Error>> {
    let graph = StateGraph::<Claim>::with_context::<Office>();
    let graph = graph.edge(START, approval).edge(approval, END).compile()?;
    Ok(graph.with_checkpointer(SqliteCheckpointer::open(folder.join("threads.db"))?))
}

/// Resumes the threads that are due, until the process is killed.
async fn work(folder: &Path) -> std::result::Result<(), Box<dyn Error>> {
    let graph = graph(folder)?;
    // Once: after a crash, a thread is not due but running. No other process has a run when a worker starts.
    for left in graph.unfinished().await? {
        if matches!(left.status, ThreadStatus::Running) {
            left.resume(()).context(Office(folder.to_owned())).await?;
        }
    }
    loop {
        for due in graph.due(SystemTime::now()).await? {
            match due.resume(()).context(Office(folder.to_owned())).await {
                // Someone has answered since the list was read.
                Err(error) if matches!(error.kind(), ErrorKind::Conflict(_)) => {}
                resumed => drop(resumed?),
            }
        }
        tokio::time::sleep(DAY / 10).await;
    }
}

fn start_worker(folder: &Path) -> std::io::Result<Child> {
    Command::new(std::env::current_exe()?).arg(folder).spawn()
}

async fn until_mails(office: &Office, count: usize) {
    while office.mails().len() < count {
        tokio::time::sleep(DAY / 20).await;
    }
}

#[tokio::main]
async fn main() -> std::result::Result<(), Box<dyn Error>> {
    if let Some(folder) = std::env::args_os().nth(1) {
        return work(Path::new(&folder)).await;
    }
    let folder = tempfile::tempdir()?;
    let office = || Office(folder.path().to_owned());
    let graph = graph(folder.path())?;
    let thread = graph.thread("claim-17");
    thread.run(Claim::input(17_u32)).context(office()).await?;
    let link = thread.interrupts().await?.only::<Approve>()?.id().to_owned();

    let mut worker = start_worker(folder.path())?;
    until_mails(&office(), 2).await;
    worker.kill()?;
    worker.wait()?;
    println!("the worker was killed after {} mails", office().mails().len());

    let mut worker = start_worker(folder.path())?;
    until_mails(&office(), 5).await;
    // The thread waits again once the worker has suspended it.
    let question = loop {
        let open = thread.interrupts().await?;
        if let Some(open) = open.interrupts().iter().find(|open| open.id == link) {
            break open.clone();
        }
        tokio::time::sleep(DAY / 20).await;
    };
    worker.kill()?;
    worker.wait()?;

    let outcome = thread.resume(question.answer_json(true.into())).context(office()).await?;
    office().mails().iter().for_each(|mail| println!("{mail}"));
    println!("approved from the first mail: {:?}", outcome.state().approved);
    assert_eq!((office().mails().len(), outcome.state().approved), (5, Some(true)));
    Ok(())
}
