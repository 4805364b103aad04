//! A workflow is one async function: its steps are done once, several at a time, a person is asked on the way, and the next run
//! on the thread finds what this one has returned.

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

/// Somewhere that is slow, costs something, and is down now and then.
#[derive(Default)]
struct Weather {
    asked: AtomicU32,
}

impl Weather {
    async fn of(&self, town: &str) -> Result<String> {
        if self.asked.fetch_add(1, Ordering::Relaxed) == 1 {
            return Err(NodeError::msg(format!("no word from {town}")));
        }
        println!("asking about {town}");
        Ok(format!("{town}: rain"))
    }
}

async fn report(
    towns: &[String],
    previous: Option<&Report>,
    weather: &ContextWith<Weather>,
) -> Result<Report> {
    let asked = towns.iter().map(|town| weather.step(town, weather.context().of(town)));
    let lines = weather.steps(asked).at_most(2).await?;
    if !weather.interrupt(Publish { lines: lines.clone() }).await {
        return Err(NodeError::msg("it was not to be published"));
    }
    Ok(Report { number: previous.map_or(1, |report| report.number + 1), lines })
}

/// What every process does first.
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
        unreachable!("one town is not heard of")
    };
    println!("{error:?}");

    // Another process: the function runs again from its top, and asks only about what is not known yet.
    let waits = thread(&file)?.resume(()).context(Arc::clone(&weather)).await?;
    assert!(matches!(waits, Outcome::Interrupted(_)));
    assert_eq!(weather.asked.load(Ordering::Relaxed), 4);

    // And another one, with the answer.
    let publish = thread(&file)?.interrupts().await?.only::<Publish>()?;
    assert_eq!(publish.lines, ["Bergen: rain", "Galway: rain", "Hilo: rain"]);
    let report = thread(&file)?.resume(publish.answer(true)).context(Arc::clone(&weather)).await?.value()?;
    println!("{report:?}");
    assert_eq!(report.number, 1);

    // The next day.
    thread(&file)?.run(vec!["Hilo".to_owned()]).context(Arc::clone(&weather)).await?;
    let publish = thread(&file)?.interrupts().await?.only::<Publish>()?;
    let report = thread(&file)?.resume(publish.answer(true)).context(weather).await?.value()?;
    assert_eq!(report, Report { number: 2, lines: vec!["Hilo: rain".to_owned()] });
    Ok(())
}
