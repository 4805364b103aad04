//! The status of threads, and the lists by it.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use superstep_store::checkpoint::{
    Checkpointer, DuePosition, Fence, StatusKind, StoredStatus, ThreadQuery, ThreadRecord,
};

use crate::Broken;
use crate::case::Target;
use crate::expect::{Expect as _, Refusal as _, holds, same};
use crate::writer::{Writer, checkpoint_write};

/// A time in 2023, in whole milliseconds.
fn at(millis: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(1_700_000_000_000 + millis)
}

fn asleep(millis: u64) -> StoredStatus {
    StoredStatus::new(StatusKind::WaitingForTime).wakes_at(at(millis))
}

/// Writes a status, as the end of a run does.
async fn set(writer: &mut Writer, status: StoredStatus) -> Result<(), Broken> {
    let batch = writer.batch(Vec::new()).status(status);
    writer.commit(batch).await.works("a batch may have a status and no writes")
}

/// Adds a thread with this status.
async fn thread(target: &Store, name: &str, status: StoredStatus) -> Result<Writer, Broken> {
    let mut writer = Writer::new(target, name);
    let batch = writer.batch(vec![checkpoint_write(writer.draft("a=1"))]).status(status);
    writer.commit(batch).await.works("a thread can be created with a status")?;
    Ok(writer)
}

type Store = std::sync::Arc<dyn Checkpointer>;

/// Returns all threads of a list, page by page.
async fn listed(store: &dyn Checkpointer, mut query: ThreadQuery) -> Result<Vec<ThreadRecord>, Broken> {
    let mut all: Vec<ThreadRecord> = Vec::new();
    loop {
        let page = store.threads(query.clone()).await.works("threads can be listed")?;
        let fits = query.limit.is_none_or(|limit| page.items.len() <= limit);
        holds("a page has at most `limit` items", fits, &query)?;
        all.extend(page.items);
        let last = match all.last() {
            Some(last) if page.more => last,
            _ => return Ok(all),
        };
        query = query.continue_after(last);
    }
}

async fn named(store: &dyn Checkpointer, query: ThreadQuery) -> Result<Vec<String>, Broken> {
    Ok(listed(store, query).await?.iter().map(|record| record.thread.to_string()).collect())
}

/// Checks the status of a thread, as reads and lists return it.
async fn expect(
    store: &dyn Checkpointer,
    name: &str,
    status: StoredStatus,
    promise: &str,
) -> Result<(), Broken> {
    for namespace in ["", "child", "missing"] {
        let loaded = store.get(name, namespace, None).await.works("a thread can be read")?;
        same(format!("{promise}: read in namespace `{namespace}`"), status, loaded.status)?;
    }
    let found = listed(store, ThreadQuery::new().prefix(name)).await?;
    same(format!("{promise}: listed"), Some(status), found.first().map(|record| record.status))?;
    let unfinished = named(store, ThreadQuery::new().unfinished(true).prefix(name)).await?;
    same(format!("{promise}: listed as unfinished"), status.is_unfinished(), !unfinished.is_empty())?;
    let now = at(1_000_000);
    let due = named(store, ThreadQuery::new().due(now).prefix(name)).await?;
    same(format!("{promise}: listed as due"), status.is_due(now), !due.is_empty())
}

pub(crate) async fn status_is_written_with_its_batch(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    writer.add("a=1").await?;
    let unknown = StoredStatus::default();
    expect(&*store, "t", unknown, "a thread without a status is of unknown status").await?;
    for kind in StatusKind::ALL {
        for millis in [None, Some(0), Some(1), Some(999)] {
            if kind == StatusKind::Unknown && millis.is_some() {
                continue;
            }
            let status = StoredStatus::new(kind).wakes_at(millis.map(at));
            set(&mut writer, status).await?;
            expect(&*store, "t", status, "a batch changes the status").await?;
            writer.add("a=2").await?;
            writer.raise_epoch().await?;
            expect(&*store, "t", status, "a batch without a status keeps it").await?;
        }
    }
    let mut inner = writer.in_namespace("child");
    inner.add("b=1").await?;
    set(&mut inner, asleep(5)).await?;
    expect(&*store, "t", asleep(5), "a thread has one status for all namespaces").await
}

pub(crate) async fn refused_batch_keeps_the_status(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = thread(&store, "t", asleep(7)).await?;
    let finished = StoredStatus::new(StatusKind::Finished);
    let mut stale = writer.batch(Vec::new()).status(finished);
    stale.fence = Fence::default();
    store.commit(stale).await.conflicts("a stale writer is refused", Fence::default(), writer.fence)?;
    expect(&*store, "t", asleep(7), "a conflict keeps the status").await?;
    let mut orphan = writer.draft("a=2");
    orphan.checkpoint.parent = Some(orphan.checkpoint.id);
    let invalid = writer.batch(vec![checkpoint_write(orphan)]).status(finished);
    store.commit(invalid).await.refused("an invalid batch is refused")?;
    expect(&*store, "t", asleep(7), "an invalid batch keeps the status").await?;
    set(&mut writer, finished).await?;
    expect(&*store, "t", finished, "the next batch changes the status").await
}

pub(crate) async fn unfinished_threads_are_listed_by_name(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut expected = Vec::new();
    for (n, kind) in StatusKind::ALL.into_iter().cycle().take(36).enumerate() {
        let name = format!("t{n:02}");
        thread(&store, &name, StoredStatus::new(kind)).await?;
        if kind != StatusKind::Finished {
            expected.push(name);
        }
    }
    for limit in [None, Some(1), Some(2), Some(7)] {
        let query = ThreadQuery::new().unfinished(true).limit(limit);
        same("each thread that is not finished is listed", &expected, &named(&*store, query).await?)?;
    }
    let query = ThreadQuery::new().after("t12").prefix("t1").unfinished(true);
    let fits = |name: &&String| name.starts_with("t1") && name.as_str() > "t12";
    let both: Vec<_> = expected.iter().filter(fits).cloned().collect();
    same("a thread must meet all conditions", both, named(&*store, query).await?)
}

pub(crate) async fn due_threads_are_listed_by_time(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    thread(&store, "", asleep(30)).await?;
    let mut expected = vec![DuePosition::new(at(30), "")];
    for n in 0..40_u64 {
        let (name, wakes) = (format!("t{:02}", n * 7 % 40), n / 4 * 10);
        let status = match n % 4 {
            0 => asleep(wakes),
            1 => StoredStatus::new(StatusKind::WaitingForAnswer).wakes_at(at(wakes)),
            2 => StoredStatus::new(StatusKind::WaitingForAnswer),
            _ if n % 8 == 3 => StoredStatus::default(),
            _ => StoredStatus::new(StatusKind::Finished),
        };
        thread(&store, &name, status).await?;
        if status.is_due(at(1_000_000)) {
            expected.push(DuePosition::new(status.wakes_at, name));
        }
    }
    expected.sort();
    let until = |now: SystemTime| {
        let due = expected.iter().filter(move |at| at.wakes_at.is_none_or(|time| time <= now));
        due.map(|at| at.thread.to_string()).collect::<Vec<_>>()
    };
    for now in [at(0) - Duration::from_millis(1), at(0), at(29), at(30), at(31), at(1_000_000)] {
        for limit in [None, Some(1), Some(3), Some(100)] {
            let found = named(&*store, ThreadQuery::new().due(now).limit(limit)).await?;
            same(
                format!("threads of unknown status come first, then the others by time (limit {limit:?})"),
                until(now),
                found,
            )?;
        }
    }
    let query = ThreadQuery::new().due(at(90)).prefix("t1").after("t12").limit(2);
    let fits = |name: &String| name.starts_with("t1") && name.as_str() > "t12";
    let both: Vec<_> = until(at(90)).into_iter().filter(fits).collect();
    same("a due thread must meet all conditions", both, named(&*store, query).await?)
}

pub(crate) async fn changed_status_moves_the_thread(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = thread(&store, "t", asleep(10)).await?;
    let due = async |millis| named(&*store, ThreadQuery::new().due(at(millis))).await;
    same("a sleeping thread is due at its time", vec!["t".to_owned()], due(10).await?)?;
    set(&mut writer, asleep(20)).await?;
    same("a thread that sleeps longer is no longer due", Vec::<String>::new(), due(10).await?)?;
    same("a thread that sleeps longer is due later, once", vec!["t".to_owned()], due(50).await?)?;
    set(&mut writer, StoredStatus::new(StatusKind::Running)).await?;
    same("a running thread is not due", Vec::<String>::new(), due(50).await?)?;
    set(&mut writer, asleep(30)).await?;
    store.copy("t", "u", None).await.works("a thread can be copied")?;
    expect(&*store, "u", asleep(30), "a copy has the status of the thread").await?;
    same("a copy is listed as well", vec!["t".to_owned(), "u".to_owned()], due(50).await?)?;
    store.delete("t", None).await.works("a thread can be deleted")?;
    same("a deleted thread is not listed", vec!["u".to_owned()], due(50).await?)?;
    let unfinished = named(&*store, ThreadQuery::new().unfinished(true)).await?;
    same("a deleted thread is not listed", vec!["u".to_owned()], unfinished)?;
    let loaded = store.get("t", "", None).await.works("a missing thread can be read")?;
    same("a deleted thread has no status", StoredStatus::default(), loaded.status)?;
    drop((writer, store));
    let store = target.open().await?;
    expect(&*store, "u", asleep(30), "the status survives a reopen").await
}

const FEW: u32 = 40;
const MANY: u32 = 2_000;
const FACTOR: u32 = 6;
const NOISE: Duration = Duration::from_millis(3);

pub(crate) async fn cost_of_a_list_follows_its_length(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    for n in 0..10 {
        thread(&store, &format!("due {n}"), asleep(n)).await?;
    }
    let mut costs = Vec::new();
    let mut count = 0;
    for threads in [FEW, MANY] {
        while count < threads {
            // Half of the threads wait for a later time, so that they are in an index, but not in the list.
            let status = match count % 2 {
                0 => StoredStatus::new(StatusKind::Finished),
                _ => asleep(1_000_000_000),
            };
            thread(&store, &format!("other {count}"), status).await?;
            count += 1;
        }
        let fastest = async |query: &ThreadQuery, length: usize| {
            let mut best = Duration::MAX;
            for _ in 0..15 {
                let start = Instant::now();
                let page = store.threads(query.clone()).await.works("threads can be listed")?;
                best = best.min(start.elapsed());
                same("the list has the expected length", length, page.items.len())?;
            }
            Ok::<_, Broken>(best)
        };
        let due = fastest(&ThreadQuery::new().due(at(100)), 10).await?;
        let unfinished = fastest(&ThreadQuery::new().unfinished(true).limit(10), 10).await?;
        costs.push((due, unfinished));
    }
    let [few, many] = *costs.as_slice() else { return Ok(()) };
    let promise = format!("ten due threads are listed among {MANY} as quickly as among {FEW}");
    holds(promise, many.0 <= few.0 * FACTOR + NOISE, format!("{:?} → {:?}", few.0, many.0))?;
    let promise = format!("ten unfinished threads are listed among {MANY} as quickly as among {FEW}");
    holds(promise, many.1 <= few.1 * FACTOR + NOISE, format!("{:?} → {:?}", few.1, many.1))
}
