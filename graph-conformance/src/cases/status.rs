//! The status of threads, and the lists by it.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use superstep_store::Metadata;
use superstep_store::checkpoint::{
    ChangePosition, Checkpointer, DuePosition, Fence, StatusKind, StoredStatus, ThreadQuery, ThreadRecord,
};

use crate::Broken;
use crate::case::Target;
use crate::expect::{Expect as _, Refusal as _, holds, same};
use crate::writer::{Writer, checkpoint_write, run};

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
    let rare: Metadata = [("rare".to_owned(), json!(true))].into_iter().collect();
    for n in 0..10 {
        let mut writer = thread(&store, &format!("due {n}"), asleep(n)).await?;
        writer.run = run("rare", rare.clone());
        writer.add("a=1").await?;
    }
    let mut costs = Vec::new();
    let mut more = Vec::new();
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
        let others = [
            ("newest first", ThreadQuery::new().newest_first(true)),
            ("of one status", ThreadQuery::new().status([StatusKind::WaitingForTime])),
            ("of one status, newest first", {
                ThreadQuery::new().status([StatusKind::WaitingForTime]).newest_first(true)
            }),
            ("with metadata", ThreadQuery::new().metadata(rare.clone())),
            ("with metadata, newest first", ThreadQuery::new().metadata(rare.clone()).newest_first(true)),
        ];
        for (what, query) in others {
            more.push((what, fastest(&query.limit(10), 10).await?));
        }
    }
    let (few, many) = more.split_at(more.len() / 2);
    for ((what, few), (_, many)) in few.iter().zip(many) {
        let promise = format!("ten threads {what} are listed among {MANY} as quickly as among {FEW}");
        holds(promise, *many <= *few * FACTOR + NOISE, format!("{few:?} → {many:?}"))?;
    }
    let [few, many] = *costs.as_slice() else { return Ok(()) };
    let promise = format!("ten due threads are listed among {MANY} as quickly as among {FEW}");
    holds(promise, many.0 <= few.0 * FACTOR + NOISE, format!("{:?} → {:?}", few.0, many.0))?;
    let promise = format!("ten unfinished threads are listed among {MANY} as quickly as among {FEW}");
    holds(promise, many.1 <= few.1 * FACTOR + NOISE, format!("{:?} → {:?}", few.1, many.1))
}

pub(crate) async fn threads_are_listed_by_their_kinds(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut all = Vec::new();
    for (n, kind) in StatusKind::ALL.into_iter().cycle().take(45).enumerate() {
        let name = format!("t{:02}", n * 11 % 45);
        thread(&store, &name, StoredStatus::new(kind)).await?;
        all.push((name, kind));
    }
    all.sort();
    let wanted: [&[StatusKind]; 5] = [
        &[],
        &[StatusKind::Finished],
        &[StatusKind::Unknown, StatusKind::Stopped],
        &[StatusKind::Failed, StatusKind::WaitingForAnswer, StatusKind::Finished],
        &StatusKind::ALL,
    ];
    for kinds in wanted {
        for unfinished in [false, true] {
            let fits = |(_, kind): &&(String, StatusKind)| {
                (kinds.is_empty() || kinds.contains(kind)) && !(unfinished && *kind == StatusKind::Finished)
            };
            let expected: Vec<_> = all.iter().filter(fits).map(|(name, _)| name.clone()).collect();
            for limit in [None, Some(1), Some(4)] {
                let query =
                    ThreadQuery::new().status(kinds.iter().copied()).unfinished(unfinished).limit(limit);
                let promise = format!("only threads of these kinds are listed, by name: {query:?}");
                same(promise, &expected, &named(&*store, query).await?)?;
            }
        }
    }
    let query = ThreadQuery::new().status([StatusKind::Unknown]).prefix("t1").after("t12").limit(1);
    let fits = |(name, kind): &&(String, StatusKind)| {
        *kind == StatusKind::Unknown && name.starts_with("t1") && name.as_str() > "t12"
    };
    let both: Vec<_> = all.iter().filter(fits).map(|(name, _)| name.clone()).collect();
    same("a thread must meet all conditions", both, named(&*store, query).await?)
}

pub(crate) async fn threads_are_listed_newest_first(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut expected = Vec::new();
    for n in 0..40_u64 {
        let name = format!("t{:02}", n * 7 % 40);
        let kind = if n % 3 == 0 { StatusKind::Finished } else { StatusKind::WaitingForAnswer };
        let changed = match n % 8 {
            7 => None,
            // Times before 1970, at 1970, and the same time for several threads.
            6 => Some(UNIX_EPOCH - Duration::from_millis(n)),
            _ => Some(at(n / 4)),
        };
        let status = StoredStatus::new(kind).changed_at(changed);
        let writer = thread(&store, &name, status).await?;
        let loaded = writer.store.get(&name, "", None).await.works("a thread can be read")?;
        same("a thread keeps the time at which its status changed", status, loaded.status)?;
        expected.push((ChangePosition::new(changed, name), kind));
    }
    expected.sort_by(|(a, _), (b, _)| a.cmp(b));
    let of = |kinds: &[StatusKind]| -> Vec<String> {
        let fits = |(_, kind): &&(ChangePosition, StatusKind)| kinds.is_empty() || kinds.contains(kind);
        expected.iter().filter(fits).map(|(position, _)| position.thread.to_string()).collect()
    };
    let wanted: [&[StatusKind]; 3] =
        [&[], &[StatusKind::Finished], &[StatusKind::Finished, StatusKind::WaitingForAnswer]];
    for kinds in wanted {
        for limit in [None, Some(1), Some(3), Some(100)] {
            let query = ThreadQuery::new().newest_first(true).status(kinds.iter().copied()).limit(limit);
            let promise = format!("the newest threads come first, and those of unknown time last: {query:?}");
            same(promise, of(kinds), named(&*store, query).await?)?;
        }
    }
    let mut writer =
        thread(&store, "moved", StoredStatus::new(StatusKind::Running).changed_at(at(1))).await?;
    let newest = ThreadQuery::new().newest_first(true).limit(1);
    set(&mut writer, StoredStatus::new(StatusKind::Running).changed_at(at(1_000))).await?;
    let found = store.threads(newest).await.works("threads can be listed")?.items;
    let found: Vec<_> = found.iter().map(|record| record.thread.to_string()).collect();
    same("a changed status moves the thread to the front", vec!["moved".to_owned()], found)
}

pub(crate) async fn threads_are_listed_by_metadata(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let values = [
        json!(1),
        json!(1.0),
        json!("1"),
        json!(null),
        json!(0.0),
        json!(u64::MAX),
        json!("\0'%_"),
        json!({"a": 1, "b": [null]}),
    ];
    let metadata =
        |key: &str, value: &Value| -> Metadata { [(key.to_owned(), value.clone())].into_iter().collect() };
    let mut writers = Vec::new();
    for (n, value) in values.iter().cycle().take(24).enumerate() {
        let mut writer = Writer::new(&store, &format!("t{n:02}"));
        let mut all = metadata("v\0", value);
        all.insert("round".to_owned(), (n / values.len()).into());
        writer.run = run("run", all);
        writer.add("a=1").await?;
        let kind = if n % 2 == 0 { StatusKind::Finished } else { StatusKind::Failed };
        set(&mut writer, StoredStatus::new(kind).changed_at(at(100 - n as u64 / 3))).await?;
        let mut inner = writer.in_namespace("child");
        inner.run = run("inner", metadata("inner", &json!(1)));
        inner.add("a=1").await?;
        writers.push(writer);
    }
    thread(&store, "none", StoredStatus::default()).await?;
    let list = async |query: ThreadQuery| named(&*store, query).await;
    for (n, value) in values.iter().enumerate() {
        let expected: Vec<_> = (0..3).map(|round| format!("t{:02}", n + round * values.len())).collect();
        for limit in [None, Some(1), Some(2)] {
            let query = ThreadQuery::new().metadata(metadata("v\0", value)).limit(limit);
            same(format!("values are compared strictly: {value}"), &expected, &list(query.clone()).await?)?;
            let found = list(query.newest_first(true)).await?;
            same(format!("metadata can be combined with an order: {value}"), &expected, &found)?;
        }
    }
    let mut both = metadata("v\0", &json!(1));
    both.insert("round".to_owned(), json!(1));
    same("all keys must match", vec!["t08".to_owned()], list(ThreadQuery::new().metadata(both)).await?)?;
    let failed = ThreadQuery::new().metadata(metadata("round", &json!(0))).status([StatusKind::Failed]);
    let expected = ["t01", "t03", "t05", "t07"].map(str::to_owned).to_vec();
    same("metadata can be combined with a status", expected, list(failed).await?)?;
    for (key, value) in [("v", json!(1)), ("inner", json!(1)), ("v\0", json!(0)), ("none", json!(null))] {
        let found = list(ThreadQuery::new().metadata(metadata(key, &value))).await?;
        same(format!("no thread has {key:?}: {value}"), Vec::<String>::new(), found)?;
    }
    let minus_zero = list(ThreadQuery::new().metadata(metadata("v\0", &json!(-0.0)))).await?.len();
    same("zero equals minus zero", 3, minus_zero)?;

    // The newest run decides.
    let Some(writer) = writers.first_mut() else { return Ok(()) };
    let first = writer.fence.head;
    writer.run = run("next", metadata("next", &json!(true)));
    writer.add("a=2").await?;
    let of_next = || ThreadQuery::new().metadata(metadata("next", &json!(true)));
    let of_first = || ThreadQuery::new().metadata(metadata("v\0", &json!(1))).limit(1);
    same("a new run replaces the metadata", vec!["t00".to_owned()], list(of_next()).await?)?;
    let found = store.threads(of_first()).await.works("threads can be listed")?.items;
    same("the earlier metadata are gone", Some("t08"), found.first().map(|item| &*item.thread))?;
    store.copy("t00", "copy", None).await.works("a thread can be copied")?;
    let expected = vec!["copy".to_owned(), "t00".to_owned()];
    same("a copy has the metadata", expected, list(of_next()).await?)?;
    writer.roll_back(first).await?;
    same("a roll back restores the metadata", vec!["copy".to_owned()], list(of_next()).await?)?;
    let found = store.threads(of_first()).await.works("threads can be listed")?.items;
    same("a roll back restores the metadata", Some("t00"), found.first().map(|item| &*item.thread))?;
    store.delete("copy", None).await.works("a thread can be deleted")?;
    same("a deleted thread is not listed", Vec::<String>::new(), list(of_next()).await?)
}
