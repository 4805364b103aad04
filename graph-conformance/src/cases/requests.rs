//! Requests from outside, which are found by their idempotency keys.

use std::time::{Duration, Instant};

use superstep_store::checkpoint::RecordKind::{Request, Step};
use superstep_store::checkpoint::{
    CheckpointId, CheckpointQuery, CheckpointSource, Prune, RecordKey, TaskRecord,
};

use crate::Broken;
use crate::case::Target;
use crate::cases::names::names;
use crate::expect::{Expect as _, holds, same};
use crate::shorthand::{key, record};
use crate::thread_contents::{ids, query};
use crate::writer::{Writer, checkpoint_write};

fn request(name: &str) -> TaskRecord {
    record(key(RecordKey::NO_TASK, Request, name), "digest")
}

fn of(thread: &str, namespace: &str, name: &str) -> CheckpointQuery {
    query(thread, namespace).request(name)
}

pub(crate) async fn requests_are_found_by_their_exact_key(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    let mut expected = Vec::new();
    for name in names() {
        let mut new = writer.draft("list+1");
        new.records = vec![request(&name), record(key(0, Step, &name), "x")];
        let with_it = writer.add_draft(new).await?;
        let later = writer.add("list+1").await?;
        writer.write_records(later, vec![], vec![request(&format!("later {name}"))]).await?;
        expected.push((name, with_it, later));
    }
    let mut inner = writer.in_namespace("child");
    let inside = inner.add("a=1").await?;
    inner.write_records(inside, vec![], vec![request("inside"), request("")]).await?;
    for (name, with_it, later) in expected {
        let found = ids(&*store, of("t", "", &name)).await?;
        same(format!("the request {name:?} is found at its checkpoint"), vec![with_it], found)?;
        let found = ids(&*store, of("t", "", &format!("later {name}"))).await?;
        same("a request of a later batch is found", vec![later], found)?;
    }
    let none: [(&str, &str, &str); 4] =
        [("t", "", "inside"), ("t", "child", "a"), ("missing", "", ""), ("t", "", "missing")];
    for (thread, namespace, name) in none {
        let found = ids(&*store, of(thread, namespace, name)).await?;
        same("a request is found in its own namespace only", Vec::<CheckpointId>::new(), found)?;
    }
    same("a nested request is found", vec![inside], ids(&*store, of("t", "child", "inside")).await?)?;
    let long = "\u{e9}".repeat(8 << 10);
    writer.write_records(writer.fence.head.unwrap_or(inside), vec![], vec![request(&long)]).await?;
    let found = ids(&*store, of("t", "", &long)).await?;
    same("a key may be as long as any key of a record", writer.fence.head, found.first().copied())?;
    let similar = long.get(2..).unwrap_or_default();
    same("a long key is compared as a whole", 0, ids(&*store, of("t", "", similar)).await?.len())
}

pub(crate) async fn request_can_be_combined_with_other_conditions(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    let mut all = Vec::new();
    for n in 0..9 {
        let mut new = writer.draft("a=1");
        new.records = if n % 2 == 0 { vec![request("k")] } else { vec![request("other")] };
        new.checkpoint.source = if n < 4 { CheckpointSource::Update } else { CheckpointSource::Loop };
        all.push(writer.add_draft(new).await?);
    }
    let at = |numbers: &[usize]| -> Vec<_> { numbers.iter().filter_map(|n| all.get(*n).copied()).collect() };
    let k = || of("t", "", "k");
    let middle = all.get(4).copied();
    let checks = [
        ("newest first", k(), at(&[8, 6, 4, 2, 0])),
        ("in pages", k().limit(2), at(&[8, 6, 4, 2, 0])),
        ("before", k().before(middle), at(&[2, 0])),
        ("after", k().after(middle), at(&[8, 6])),
        ("source", k().source(CheckpointSource::Update), at(&[2, 0])),
        ("run", k().run("another"), at(&[])),
    ];
    for (what, query, expected) in checks {
        same(
            format!("a request is combined with other conditions: {what}"),
            expected,
            ids(&*store, query).await?,
        )?;
    }
    let page = store.list(k().oldest_first(true)).await.works("checkpoints can be listed")?;
    let found = page.items.iter().map(|item| item.id).collect();
    same("requests are listed oldest first", at(&[0, 2, 4, 6, 8]), found)
}

pub(crate) async fn removed_requests_are_not_found(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    let mut all = Vec::new();
    for n in 0..6 {
        let mut new = writer.draft("list+1");
        new.records = vec![request(&format!("{n}")), request("all")];
        all.push(writer.add_draft(new).await?);
    }
    let last = all.get(5).copied().unwrap_or(CheckpointId::FIRST);
    // A request that is put again keeps its place.
    writer.write_records(last, vec![], vec![request("5")]).await?;
    same("a replaced request is found once", vec![last], ids(&*store, of("t", "", "5")).await?)?;
    writer.write_records(last, vec![request("5").key], vec![]).await?;
    same("a removed request is not found", 0, ids(&*store, of("t", "", "5")).await?.len())?;

    store.copy("t", "copy", None).await.works("a thread can be copied")?;
    let newest_first: Vec<_> = all.iter().rev().copied().collect();
    same("a copy keeps the requests", &newest_first, &ids(&*store, of("copy", "", "all")).await?)?;

    writer.roll_back(all.get(3).copied()).await?;
    let found = ids(&*store, of("t", "", "4")).await?.len();
    same("a request of a rolled back checkpoint is not found", 0, found)?;
    let left = newest_first.get(2..).unwrap_or_default().to_vec();
    same("other requests are found", left, ids(&*store, of("t", "", "all")).await?)?;

    store.prune(Prune::new().thread("t").keep_last(1)).await.works("a thread can be pruned")?;
    same("a pruned request is not found", 0, ids(&*store, of("t", "", "0")).await?.len())?;
    same("the head keeps its requests", 1, ids(&*store, of("t", "", "3")).await?.len())?;
    same("a copy has its own requests", &newest_first, &ids(&*store, of("copy", "", "all")).await?)?;
    store.delete("t", None).await.works("a thread can be deleted")?;
    same("a deleted request is not found", 0, ids(&*store, of("t", "", "3")).await?.len())
}

pub(crate) async fn cost_of_a_request_does_not_grow(target: Target<'_>) -> Result<(), Broken> {
    const COUNTS: [usize; 2] = [100, 4_000];
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    let mut first = None;
    let mut costs = Vec::new();
    let mut count = 0;
    for target in COUNTS {
        while count < target {
            let mut plan = writer.clone();
            let mut writes = Vec::new();
            for _ in 0..100.min(target - count) {
                let mut new = plan.draft("");
                new.records = vec![request(&format!("{count}"))];
                plan.fence.head = Some(new.checkpoint.id);
                plan.step += 1;
                first = first.or(plan.fence.head);
                count += 1;
                writes.push(checkpoint_write(new));
            }
            writer.commit(writer.batch(writes)).await.works("a batch may add many checkpoints")?;
        }
        let mut best = Duration::MAX;
        for name in ["0", "missing"].repeat(10) {
            let start = Instant::now();
            let page = store.list(of("t", "", name).limit(1)).await.works("a request can be found")?;
            best = best.min(start.elapsed());
            let expected = if name == "0" { first } else { None };
            same("a request is found", expected, page.items.first().map(|item| item.id))?;
        }
        costs.push(best);
    }
    let [short, long] = *costs.as_slice() else { return Ok(()) };
    let promise = format!("a request is found as quickly among {COUNTS:?} checkpoints");
    holds(promise, long <= short * 6 + Duration::from_millis(1), format!("{short:?} → {long:?}"))
}
