//! The cost of reads and writes in a long history.

use std::time::{Duration, Instant};

use superstep_store::checkpoint::{CheckpointId, Checkpointer};

use crate::Broken;
use crate::case::Target;
use crate::expect::{Expect as _, holds, same};
use crate::thread_contents::query;
use crate::writer::{Writer, checkpoint_write};

const SHORT: u32 = 200;
const LONG: u32 = 10_000;

/// The tolerance for caches and tree depth. The long history is 50 times as long as the short one.
const FACTOR: u32 = 6;
const NOISE: Duration = Duration::from_millis(3);

pub(crate) async fn cost_does_not_grow_with_the_history(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    let first = writer.add("once=1").await?;
    // A field never has more than ten changes since its last whole value.
    let sign = |step: u32| if step.is_multiple_of(10) { '=' } else { '+' };
    grow(&mut writer, SHORT, sign).await?;
    let short = Costs::of(&*store, &mut writer, first).await?;
    grow(&mut writer, LONG, sign).await?;
    let long = Costs::of(&*store, &mut writer, first).await?;
    let compared = [
        ("reading the head", short.head, long.head),
        ("reading the first checkpoint", short.first, long.first),
        ("listing the newest twenty", short.newest, long.newest),
        ("listing twenty older checkpoints", short.older, long.older),
        ("adding a checkpoint", short.add, long.add),
    ];
    for (what, short, long) in compared {
        let promise = format!("{what} takes no longer after {LONG} checkpoints than after {SHORT}");
        holds(promise, long <= short * FACTOR + NOISE, format!("{short:?} → {long:?}"))?;
    }
    Ok(())
}

pub(crate) async fn cost_of_a_read_follows_its_size(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    let first = writer.add("list+0").await?;
    let read = async |writer: &Writer, id, changes: usize| {
        let mut best = Duration::MAX;
        for _ in 0..7 {
            let start = Instant::now();
            let stored = writer.read(id).await?;
            best = best.min(start.elapsed());
            same(
                "every delta is read",
                changes,
                stored.fields.iter().map(|field| field.changes.len()).sum(),
            )?;
        }
        Ok::<_, Broken>(best)
    };
    let mut costs = Vec::new();
    for count in [SHORT, LONG] {
        grow(&mut writer, count, |_| '+').await?;
        let Some(head) = writer.fence.head else { return Ok(()) };
        costs.push((read(&writer, first, 1).await?, read(&writer, head, count as usize).await?));
    }
    let [(first, short), (first_after, long)] = *costs.as_slice() else { return Ok(()) };
    let promise = format!("the first of {LONG} deltas is read as quickly as the first of {SHORT}");
    holds(promise, first_after <= first * FACTOR + NOISE, format!("{first:?} → {first_after:?}"))?;
    let promise = format!("{LONG} deltas are read in proportion to {SHORT} of them");
    holds(promise, long <= short * (LONG / SHORT) * FACTOR + NOISE, format!("{short:?} → {long:?}"))
}

pub(crate) async fn cost_of_a_roll_back_follows_its_size(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    let mut costs = Vec::new();
    for count in [SHORT, LONG] {
        grow(&mut writer, count, |_| '+').await?;
        let (mut one, mut run) = (Duration::MAX, Duration::MAX);
        for n in 0..9 {
            let to = writer.fence.head;
            writer.run = crate::writer::run(&format!("run {count} {n}"), superstep_store::Metadata::new());
            writer.add("list+new once=1").await?;
            writer.add("list+new").await?;
            let start = Instant::now();
            writer.roll_back(to).await?;
            one = one.min(start.elapsed());
            // The removed run is not found by a search of all that remains.
            let query = query("t", "").run(format!("run {count} {n}"));
            let start = Instant::now();
            let page = store.list(query).await.works("a page can be listed")?;
            run = run.min(start.elapsed());
            same("a removed run is not found", 0, page.items.len())?;
        }
        costs.push((one, run));
    }
    let [short, long] = *costs.as_slice() else { return Ok(()) };
    let promise = format!("two checkpoints are removed after {LONG} others as quickly as after {SHORT}");
    holds(promise, long.0 <= short.0 * FACTOR + NOISE, format!("{:?} → {:?}", short.0, long.0))?;
    let promise = format!("a removed run is missed among {LONG} checkpoints as quickly as among {SHORT}");
    holds(promise, long.1 <= short.1 * FACTOR + NOISE, format!("{:?} → {:?}", short.1, long.1))
}

/// Adds checkpoints until there are `count`, with up to 100 in a batch.
async fn grow(writer: &mut Writer, count: u32, sign: impl Fn(u32) -> char) -> Result<(), Broken> {
    let mut step = u32::try_from(writer.step + 1).unwrap_or_default();
    while step < count {
        let mut plan = writer.clone();
        let mut writes = Vec::new();
        for _ in 0..100.min(count - step) {
            let new = plan.draft(&format!("list{}{step}", sign(step)));
            plan.fence.head = Some(new.checkpoint.id);
            plan.step += 1;
            step += 1;
            writes.push(checkpoint_write(new));
        }
        writer.commit(writer.batch(writes)).await.works("a batch may add many checkpoints")?;
    }
    Ok(())
}

/// The shortest of several durations, which excludes most of the noise of a busy machine.
#[derive(Clone, Copy)]
struct Costs {
    head: Duration,
    first: Duration,
    newest: Duration,
    older: Duration,
    add: Duration,
}

impl Costs {
    async fn of(store: &dyn Checkpointer, writer: &mut Writer, first: CheckpointId) -> Result<Self, Broken> {
        let twenty = query("t", "").limit(20);
        let hundred = query("t", "").limit(100);
        let hundred = store.list(hundred).await.works("a page can be listed")?;
        let older = twenty.clone().before(hundred.items.last().map(|last| last.id));
        let most = Duration::MAX;
        let mut best = Self { head: most, first: most, newest: most, older: most, add: most };
        for n in 0..15 {
            let start = Instant::now();
            let loaded = store.get("t", "", None).await.works("the head can be read")?;
            best.head = best.head.min(start.elapsed());
            let fields = loaded.found.map_or(0, |found| found.fields.len());
            same("a field that was written once is read after any number of checkpoints", 2, fields)?;

            let start = Instant::now();
            store.get("t", "", Some(first)).await.works("the first checkpoint can be read")?;
            best.first = best.first.min(start.elapsed());

            for (query, best) in [(&twenty, &mut best.newest), (&older, &mut best.older)] {
                let start = Instant::now();
                let page = store.list(query.clone()).await.works("a page can be listed")?;
                *best = start.elapsed().min(*best);
                same("a page is full", 20, page.items.len())?;
            }

            let batch = writer.batch(vec![checkpoint_write(writer.draft(&format!("list={n}")))]);
            let start = Instant::now();
            writer.commit(batch).await.works("a checkpoint can be added")?;
            best.add = best.add.min(start.elapsed());
        }
        Ok(best)
    }
}
