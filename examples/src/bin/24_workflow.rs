//! Shows a workflow: one async function with parallel durable steps, an interrupt, and the result of the previous run.
//! Run with `cargo run -p examples --bin 24_workflow`.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use serde::{Deserialize, Serialize};
use superstep::interrupt::Question;
use superstep::thread::Thread;
use superstep::workflow::{Flow, Workflow};
use superstep::{ContextWith, NodeError, Outcome, Result};
use superstep_sqlite::SqliteCheckpointer;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Report {
    number: u32,
    lines: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct Publish {
    lines: Vec<String>,
}

impl Question for Publish {
    type Answer = bool;
}

/// An external service that is sometimes down.
#[derive(Default)]
struct Weather {
    requests: AtomicU32,
}

impl Weather {
    async fn of(&self, town: &str) -> Result<String> {
        if self.requests.fetch_add(1, Ordering::Relaxed) == 1 {
            return Err(NodeError::msg(format!("no connection to {town}")));
        }
        println!("requesting {town}");
        Ok(format!("{town}: rain"))
    }
}

async fn report(towns: &[String], previous: Option<&Report>, cx: &ContextWith<Weather>) -> Result<Report> {
    let steps = towns.iter().map(|town| cx.step(town, cx.context().of(town)));
    let lines = cx.steps(steps).at_most(2).await?;
    if !cx.interrupt(Publish { lines: lines.clone() }).await {
        return Err(NodeError::msg("the report was not approved"));
    }
    Ok(Report { number: previous.map_or(1, |report| report.number + 1), lines })
}

/// Opens the thread, as each process does.
fn thread(file: &Path) -> Result<Thread<Flow<Vec<String>, Report>, Weather>> {
    Ok(Workflow::with_context(report)
        .compile()?
        .with_checkpointer(SqliteCheckpointer::open(file)?)
        .thread("daily"))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("reports.db");
    let weather = Arc::new(Weather::default());
    let towns = ["Bergen", "Galway", "Hilo"].map(str::to_owned).to_vec();

    let Err(error) = thread(&file)?.run(towns).context(Arc::clone(&weather)).await else {
        unreachable!("one request fails")
    };
    println!("{error:?}");

    // Another process: the function runs again from its start. Only the steps without a stored result are executed.
    let outcome = thread(&file)?.resume(()).context(Arc::clone(&weather)).await?;
    assert!(matches!(outcome, Outcome::Interrupted(_)));
    assert_eq!(weather.requests.load(Ordering::Relaxed), 4);

    // A third process answers the question.
    let publish = thread(&file)?.interrupts().await?.only::<Publish>()?;
    assert_eq!(publish.lines, ["Bergen: rain", "Galway: rain", "Hilo: rain"]);
    let report = thread(&file)?.resume(publish.answer(true)).context(Arc::clone(&weather)).await?.value()?;
    println!("{report:?}");
    assert_eq!(report.number, 1);

    // The next day: `previous` is the report of the last run.
    thread(&file)?.run(vec!["Hilo".to_owned()]).context(Arc::clone(&weather)).await?;
    let publish = thread(&file)?.interrupts().await?.only::<Publish>()?;
    let report = thread(&file)?.resume(publish.answer(true)).context(weather).await?.value()?;
    assert_eq!(report, Report { number: 2, lines: vec!["Hilo: rain".to_owned()] });
    Ok(())
}
