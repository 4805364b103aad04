//! A long history costs no more than a short one.

use std::time::{Duration, Instant};

use graph_core::checkpoint::{CheckpointId, Checkpointer, Query};

use crate::Broken;
use crate::case::Here;
use crate::everything::query;
use crate::expect::{Expect, holds, same};
use crate::writer::{Writer, adds};

const SHORT: u32 = 200;
const LONG: u32 = 10_000;

/// What is given to chance and to the machine: neither a factor nor anything shorter than this says something.
const FACTOR: u32 = 6;
const NOISE: Duration = Duration::from_millis(4);

pub(crate) async fn ten_thousand_checkpoints_cost_no_more_each(here: Here<'_>) -> Result<(), Broken> {
    let store = here.open().await?;
    let mut writer = Writer::new(&store, "t");
    let first = writer.add("once=1").await?;
    grow(&mut writer, SHORT).await?;
    let short = Costs::of(&*store, &mut writer, first).await?;
    grow(&mut writer, LONG).await?;
    let long = Costs::of(&*store, &mut writer, first).await?;
    let compared = [
        ("reading the head", short.head, long.head),
        ("reading the first checkpoint", short.first, long.first),
        ("listing the newest twenty", short.newest, long.newest),
        ("listing twenty from the middle", short.middle, long.middle),
        ("adding a checkpoint", short.add, long.add),
    ];
    for (what, short, long) in compared {
        let promise = format!("{what} takes no longer after {LONG} checkpoints than after {SHORT}");
        holds(promise, long <= short * FACTOR + NOISE, format!("{short:?} → {long:?}"))?;
    }
    Ok(())
}

/// Adds checkpoints until there are so many, many in a batch. The value of one field never has more than ten pieces.
async fn grow(writer: &mut Writer, count: u32) -> Result<(), Broken> {
    let mut step = u32::try_from(writer.step + 1).unwrap_or_default();
    while step < count {
        let mut plan = writer.clone();
        let mut writes = Vec::new();
        for _ in 0..100.min(count - step) {
            let sign = if step.is_multiple_of(10) { '=' } else { '+' };
            let new = plan.draft(&format!("list{sign}{step}"));
            plan.fence.head = Some(new.checkpoint.id);
            plan.step += 1;
            step += 1;
            writes.push(adds(new));
        }
        writer.commit(writer.batch(writes)).await.works("a batch may add many checkpoints")?;
    }
    Ok(())
}

struct Costs {
    head: Duration,
    first: Duration,
    newest: Duration,
    middle: Duration,
    add: Duration,
}

impl Costs {
    async fn of(store: &dyn Checkpointer, writer: &mut Writer, first: CheckpointId) -> Result<Self, Broken> {
        let twenty = Query { limit: Some(20), ..query("t", "") };
        let hundred =
            store.list(Query { limit: Some(100), ..query("t", "") }).await.works("a page can be listed")?;
        let middle = Query { before: hundred.items.last().map(|last| last.id), ..twenty.clone() };
        let [mut head, mut early, mut newest, mut after, mut add] = [const { Vec::new() }; 5];
        for n in 0..15 {
            let start = Instant::now();
            let loaded = store.get("t", "", None).await.works("the head can be read")?;
            head.push(start.elapsed());
            let fields = loaded.found.map_or(0, |found| found.fields.len());
            same("a field that was written once is there after any number of checkpoints", 2, fields)?;

            let start = Instant::now();
            store.get("t", "", Some(first)).await.works("the first checkpoint can be read")?;
            early.push(start.elapsed());

            for (query, times) in [(&twenty, &mut newest), (&middle, &mut after)] {
                let start = Instant::now();
                let page = store.list(query.clone()).await.works("a page can be listed")?;
                times.push(start.elapsed());
                same("a page is full", 20, page.items.len())?;
            }

            let new = writer.draft(&format!("list={n}"));
            let batch = writer.batch(vec![adds(new)]);
            let start = Instant::now();
            writer.commit(batch).await.works("a checkpoint can be added")?;
            add.push(start.elapsed());
        }
        let median = |mut times: Vec<Duration>| {
            times.sort();
            times.get(times.len() / 2).copied().unwrap_or_default()
        };
        Ok(Self {
            head: median(head),
            first: median(early),
            newest: median(newest),
            middle: median(after),
            add: median(add),
        })
    }
}
