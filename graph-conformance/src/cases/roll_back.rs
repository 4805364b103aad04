//! Rolling back namespaces.

use std::sync::Arc;

use superstep_store::Metadata;
use superstep_store::checkpoint::RecordKind::{Finished, Step};
use superstep_store::checkpoint::{
    BatchWrite, CheckpointId, Checkpointer, Fence, Loaded, NamespaceQuery, Prune, StatusKind, StoredStatus,
    ThreadQuery,
};

use crate::Broken;
use crate::case::Target;
use crate::cases::names::names;
use crate::expect::{Expect as _, Refusal as _, holds, same};
use crate::shorthand::{format_fields, key, record};
use crate::thread_contents::{ThreadContents, ids, query};
use crate::writer::{Writer, checkpoint_write, run};

/// Checks that a namespace has the contents that it had before, without the checkpoints after `to`.
async fn expect_rolled_back(
    writer: &Writer,
    before: &ThreadContents,
    to: Option<CheckpointId>,
    what: &str,
) -> Result<(), Broken> {
    let mut expected = before.clone();
    for namespace in expected.namespaces.iter_mut().filter(|of| *of.name == *writer.namespace) {
        namespace.checkpoints.retain(|stored| Some(stored.checkpoint.id) <= to);
        namespace.fence = Fence::new(writer.fence.epoch, to);
    }
    let names: Vec<&str> = expected.namespaces.iter().map(|namespace| &*namespace.name).collect();
    let found = ThreadContents::read(&*writer.store, &writer.thread, &names).await?;
    found.expect_equal(&expected, format!("{what}: the remaining checkpoints read unchanged"))
}

/// Returns the names of the namespaces of a thread that have checkpoints.
async fn namespaces(store: &dyn Checkpointer, thread: &str) -> Result<Vec<String>, Broken> {
    let page = store.namespaces(NamespaceQuery::new(thread)).await.works("namespaces can be listed")?;
    Ok(page.items.iter().map(|item| item.namespace.to_string()).collect())
}

pub(crate) async fn roll_back_removes_later_checkpoints(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    let mut all = Vec::new();
    for n in 0..6 {
        let mut new = writer.draft(&format!("list+{n} count={n}"));
        new.records = vec![record(key(0, Finished, ""), "x"), record(key(1, Step, "s"), "y")];
        all.push(writer.add_draft(new).await?);
    }
    let mut other = Writer::new(&store, "other");
    other.add("a=1").await?;
    let untouched = ThreadContents::read(&*store, "other", &[""]).await?;
    let before = ThreadContents::read(&*store, "t", &[""]).await?;
    let (to, removed) = (all.get(2).copied(), all.get(3..).unwrap_or_default());
    writer.roll_back(to).await?;
    expect_rolled_back(&writer, &before, to, "after a roll back").await?;
    for id in removed {
        let loaded = store.get("t", "", Some(*id)).await.works("a missing checkpoint is not an error")?;
        same("a removed checkpoint is not found", None, loaded.found)?;
    }
    let after = ThreadContents::read(&*store, "other", &[""]).await?;
    after.expect_equal(&untouched, "other threads are unchanged")?;
    let next = writer.add("list+next").await?;
    let promise = "a thread continues after a roll back";
    writer.expect_fields(next, "count=2 list+0 list+1 list+2 list+next", promise).await
}

pub(crate) async fn roll_back_cuts_compacted_changes(target: Target<'_>) -> Result<(), Broken> {
    const COUNT: usize = 205;
    let store = target.open().await?;
    for (thread, per_batch) in [("one by one", 1), ("in batches", 90)] {
        let mut writer = Writer::new(&store, thread);
        let mut all = Vec::new();
        while all.len() < COUNT {
            let mut plan = writer.clone();
            let mut writes = Vec::new();
            for _ in 0..per_batch.min(COUNT - all.len()) {
                let n = all.len();
                let sign = if n == 140 { '=' } else { '+' };
                let new = plan.draft(&format!("list{sign}{n} list+{n}b other+{n}"));
                plan.fence.head = Some(new.checkpoint.id);
                plan.step += 1;
                all.push(new.checkpoint.id);
                writes.push(checkpoint_write(new));
            }
            writer.commit(writer.batch(writes)).await.works("a batch may add many checkpoints")?;
        }
        for last in [203, 193, 192, 141, 140, 139, 129, 128, 127, 64, 63, 1, 0] {
            let Some(to) = all.get(last).copied() else { break };
            let promise = format!("{thread}, back to {last}: the new head reads unchanged");
            let before = writer.read(to).await?;
            writer.roll_back(Some(to)).await?;
            same(&promise, format_fields(&before), format_fields(&writer.read(to).await?))?;
            // New changes follow the last ones that remain.
            for n in 0..3 {
                writer.add(&format!("list+new{n} other+new{n}")).await?;
            }
            let Some(head) = writer.fence.head else { break };
            let new = ("list+new0 list+new1 list+new2", "other+new0 other+new1 other+new2");
            let before = format_fields(&before);
            let (list, other) = before.split_once(" other").unwrap_or_default();
            let expected = format!("{list} {} other{other} {}", new.0, new.1);
            let promise = format!("{thread}, back to {last}: new changes follow the remaining ones");
            same(&promise, expected, format_fields(&writer.read(head).await?))?;
            writer.roll_back(Some(to)).await?;
            same(&promise, before, format_fields(&writer.read(to).await?))?;
            let left = all.iter().take(last + 1).rev().copied().collect::<Vec<_>>();
            same(&promise, left, ids(&*store, query(thread, "")).await?)?;
        }
    }
    Ok(())
}

pub(crate) async fn roll_back_removes_all_branches(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    let a = writer.add("list+a").await?;
    let b = writer.add("list+b").await?;
    let c = writer.fork(Some(a), "list+c").await?;
    let d = writer.fork(Some(b), "list+d").await?;
    let mut nested = c;
    let mut all = vec![a, b, c, d];
    for n in 0..20 {
        // A chain of forks, next to a branch that continues.
        let side = writer.fork(Some(nested), &format!("list+side{n}")).await?;
        nested = writer.fork(Some(nested), &format!("list+n{n}")).await?;
        all.extend([side, nested]);
    }
    all.push(writer.fork(Some(d), "list+e").await?);
    all.push(writer.fork(None, "list+alone").await?);
    let before = ThreadContents::read(&*store, "t", &[""]).await?;
    while let Some(last) = all.len().checked_sub(5) {
        all.truncate(last + 1);
        let to = all.last().copied();
        writer.roll_back(to).await?;
        expect_rolled_back(&writer, &before, to, "with branches").await?;
        // A checkpoint after each remaining one sees the changes of its own branch.
        for parent in all.iter().rev().take(4) {
            let expected = format_fields(&writer.read(*parent).await?);
            let child = writer.fork(Some(*parent), "list+child").await?;
            let promise = "a new branch starts at a remaining checkpoint";
            writer.expect_fields(child, &format!("{expected} list+child"), promise).await?;
        }
        writer.roll_back(to).await?;
        expect_rolled_back(&writer, &before, to, "with new branches").await?;
    }
    Ok(())
}

pub(crate) async fn roll_back_to_nothing_keeps_the_thread(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    let first = writer.draft("a=1 list+1");
    let batch = writer.batch(vec![checkpoint_write(first.clone())]);
    writer.commit(batch).await.works("a checkpoint can be added")?;
    writer.add("list+2").await?;
    let status = StoredStatus::new(StatusKind::Finished);
    let batch = writer.batch(vec![BatchWrite::roll_back("", None)]).epoch(7).status(status);
    writer.commit(batch).await.works("a namespace can be rolled back to nothing")?;
    let loaded = store.get("t", "", None).await.works("a thread can be read")?;
    let expected = Loaded::new(Fence::new(7, None), Arc::clone(&writer.origin), None).status(status);
    same("a thread without checkpoints keeps its epoch, origin and status", expected, loaded)?;
    same("no namespace is left", Vec::<String>::new(), namespaces(&*store, "t").await?)?;
    let page = store.threads(ThreadQuery::new()).await.works("threads can be listed")?;
    let heads: Vec<_> = page.items.into_iter().map(|item| (item.epoch, item.head)).collect();
    same("a thread without checkpoints is listed without a head", vec![(7, Ok(None))], heads)?;
    // The same id may be used again, because it is greater than all that remain.
    writer.fence = Fence::new(7, None);
    let again = writer.add_draft(first).await?;
    writer.expect_fields(again, "a=1 list+1", "a thread begins again after a roll back").await
}

pub(crate) async fn roll_back_is_one_of_the_writes_of_its_batch(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    let first = writer.add("list+1").await?;
    writer.add("list+2").await?;
    let mut inner = writer.in_namespace("child");
    let kept = inner.add("inner+1").await?;
    inner.add("inner+2").await?;
    let mut gone = writer.in_namespace("gone");
    gone.add("inner+1").await?;
    let before = ThreadContents::read(&*store, "t", &["child"]).await?;

    let dropped = writer.draft("list+dropped");
    let mut next = writer.clone();
    next.fence.head = Some(first);
    let mut next = next.draft("list+next");
    next.checkpoint.id = dropped.checkpoint.id;
    let (id, answer) = (next.checkpoint.id, record(key(0, Step, "s"), "x"));
    let writes = vec![
        checkpoint_write(dropped),
        BatchWrite::roll_back("child", kept),
        BatchWrite::roll_back("gone", None),
        BatchWrite::roll_back("", first),
        BatchWrite::records(first, vec![], vec![answer.clone()]),
        checkpoint_write(next),
    ];
    writer.commit(writer.batch(writes).epoch(1)).await.works("a roll back may be one of several writes")?;
    let fence = Fence::new(1, id);
    same("the last write of the batch decides the head", fence, writer.fence)?;
    writer.expect_fence("the last write of the batch decides the head").await?;
    same("writes take effect in order", vec![id, first], ids(&*store, query("t", "")).await?)?;
    writer.expect_fields(id, "list+1 list+next", "a checkpoint may follow a roll back").await?;
    same("records may follow a roll back", vec![answer], writer.read(first).await?.records)?;
    inner.fence.epoch = 1;
    expect_rolled_back(&inner, &before, Some(kept), "of another namespace").await?;
    same("an empty namespace is gone", vec![String::new(), "child".into()], namespaces(&*store, "t").await?)
}

pub(crate) async fn roll_back_ends_at_an_existing_checkpoint(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    let first = writer.add("a=1").await?;
    let last = writer.add("a=2").await?;
    let mut inner = writer.in_namespace("child");
    let elsewhere = inner.add("b=1").await?;
    let before = ThreadContents::read(&*store, "t", &["", "child"]).await?;
    let unknown = CheckpointId::from_bytes([0xff; 16]);
    let added = writer.draft("a=3");
    let too_late = added.checkpoint.id;
    let invalid = [
        ("unknown", vec![BatchWrite::roll_back("", unknown)]),
        ("the smallest id", vec![BatchWrite::roll_back("", CheckpointId::FIRST)]),
        ("in another namespace", vec![BatchWrite::roll_back("", elsewhere)]),
        ("in a missing namespace", vec![BatchWrite::roll_back("missing", first)]),
        ("removed before", vec![BatchWrite::roll_back("", first), BatchWrite::roll_back("", last)]),
        (
            "removed before, in another namespace",
            vec![BatchWrite::roll_back("child", None), BatchWrite::roll_back("child", elsewhere)],
        ),
        ("added later", vec![BatchWrite::roll_back("", too_late), checkpoint_write(added.clone())]),
        (
            "added and removed",
            vec![checkpoint_write(added.clone()), BatchWrite::roll_back("", last), {
                BatchWrite::roll_back("", too_late)
            }],
        ),
        (
            "the parent of a later checkpoint, which is removed",
            vec![BatchWrite::roll_back("", first), checkpoint_write(added.clone())],
        ),
        (
            "the owner of later records, which is removed",
            vec![BatchWrite::roll_back("", first), BatchWrite::records(last, vec![], vec![])],
        ),
    ];
    for (what, writes) in invalid {
        let result = store.commit(writer.batch(writes).epoch(1)).await;
        result.refused(format!("a removed or missing checkpoint is refused: {what}"))?;
    }
    let after = ThreadContents::read(&*store, "t", &["", "child"]).await?;
    after.expect_equal(&before, "a refused batch changes nothing")?;
    let writes = vec![
        checkpoint_write(added),
        BatchWrite::roll_back("", too_late),
        BatchWrite::roll_back("", last),
        BatchWrite::roll_back("", first),
    ];
    writer.commit(writer.batch(writes)).await.works("a batch may roll back several times")?;
    expect_rolled_back(&writer, &before, Some(first), "after several roll backs").await
}

pub(crate) async fn roll_back_is_fenced(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    let first = writer.add("a=1").await?;
    let late = writer.clone();
    writer.add("a=2").await?;
    writer.raise_epoch().await?;
    let before = ThreadContents::read(&*store, "t", &[""]).await?;
    let older = late.batch(vec![BatchWrite::roll_back("", first)]);
    store.commit(older).await.conflicts("a roll back needs the fence", late.fence, writer.fence)?;
    let mut stranger = writer.batch(vec![BatchWrite::roll_back("", first)]);
    stranger.origin = "another".into();
    let result = store.commit(stranger).await;
    result.conflicts("a roll back needs the origin", writer.fence, writer.fence)?;
    ThreadContents::read(&*store, "t", &[""])
        .await?
        .expect_equal(&before, "a roll back that loses its race changes nothing")?;
    let running = writer.clone();
    let batch = writer.batch(vec![BatchWrite::roll_back("", first)]).epoch(2);
    writer.commit(batch).await.works("a roll back may raise the epoch")?;
    let result = store.commit(running.batch(vec![checkpoint_write(running.draft("a=3"))])).await;
    result.conflicts("a roll back stops running writers", running.fence, writer.fence)
}

pub(crate) async fn roll_back_may_have_nothing_to_remove(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut new = Writer::new(&store, "new");
    let batch = new.batch(vec![BatchWrite::roll_back("", None)]).epoch(1);
    new.commit(batch).await.works("a missing namespace can be rolled back to nothing")?;
    new.expect_fence("the batch has created the thread").await?;

    let mut writer = Writer::new(&store, "t");
    let head = writer.add("list+1").await?;
    let before = ThreadContents::read(&*store, "t", &[""]).await?;
    let writes = vec![BatchWrite::roll_back("missing", None), BatchWrite::roll_back("", head)];
    writer.commit(writer.batch(writes)).await.works("a roll back may have nothing to remove")?;
    let after = ThreadContents::read(&*store, "t", &[""]).await?;
    after.expect_equal(&before, "a roll back to the head changes nothing")?;
    same("no namespace is created", vec![String::new()], namespaces(&*store, "t").await?)?;
    let next = writer.add("list+2").await?;
    writer.expect_fields(next, "list+1 list+2", "the thread continues").await
}

pub(crate) async fn roll_back_takes_only_the_named_namespace(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    writer.fence.epoch = 0;
    let mut all = names();
    all.sort();
    let mut heads = Vec::new();
    for name in &all {
        let mut inner = writer.in_namespace(name);
        inner.add("list+1").await?;
        heads.push(inner.add("list+2").await?);
    }
    for (index, name) in all.iter().enumerate().step_by(3) {
        let mut inner = writer.in_namespace(name);
        inner.fence.head = heads.get(index).copied();
        inner.roll_back(None).await?;
    }
    let left: Vec<String> =
        all.iter().enumerate().filter(|(index, _)| index % 3 != 0).map(|(_, name)| name.clone()).collect();
    same("only the named namespaces are removed", &left, &namespaces(&*store, "t").await?)?;
    for (index, name) in all.iter().enumerate().filter(|(index, _)| index % 3 != 0) {
        let loaded = store.get("t", name, None).await.works("a namespace can be read")?;
        let head = loaded.found.map(|found| found.checkpoint.id);
        same(format!("namespace {name:?} keeps its head"), heads.get(index).copied(), head)?;
    }
    Ok(())
}

pub(crate) async fn removed_runs_are_not_found(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    let metadata = |n: i32| -> Metadata { [("n".to_owned(), n.into())].into_iter().collect() };
    let mut heads = Vec::new();
    for n in 0..4 {
        writer.run = run(&format!("run {n}"), metadata(n));
        heads.push(writer.add("a=1").await?);
    }
    writer.run = run("run 0", metadata(0));
    let again = writer.add("a=1").await?;
    let of = |n: i32| query("t", "").run(format!("run {n}"));
    same("a run may return", 2, ids(&*store, of(0)).await?.len())?;
    let to = heads.get(1).copied();
    writer.roll_back(to).await?;
    for n in 2..4 {
        same("the checkpoints of a removed run are gone", 0, ids(&*store, of(n)).await?.len())?;
        let found = ids(&*store, query("t", "").metadata(metadata(n))).await?;
        same("the metadata of a removed run are gone", 0, found.len())?;
    }
    holds("the run has other checkpoints", again > heads.first().copied().unwrap_or(again), again)?;
    same("a run keeps its earlier checkpoints", heads.get(..1), Some(&*ids(&*store, of(0)).await?))?;
    // A removed run can be made again, and an old one can continue.
    for n in [3, 0, 2] {
        writer.run = run(&format!("run {n}"), metadata(n));
        let id = writer.add("a=2").await?;
        same("a run is found after it was made again", Some(&id), ids(&*store, of(n)).await?.first())?;
        same("its record is complete", writer.run.clone(), writer.read(id).await?.checkpoint.run)?;
    }
    Ok(())
}

pub(crate) async fn pruned_namespace_is_rolled_back(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    let mut all = Vec::new();
    for n in 0..150 {
        let sign = if n % 40 == 0 { '=' } else { '+' };
        all.push(writer.add(&format!("list{sign}{n}")).await?);
    }
    let fork = all.get(120).copied();
    writer.fork(fork, "list+fork").await?;
    let side = writer.add("list+side").await?;
    store.prune(Prune::new().thread("t").keep_last(20)).await.works("a thread can be pruned")?;
    let before = ThreadContents::read(&*store, "t", &[""]).await?;
    for last in [148, 140, 135] {
        let to = all.get(last).copied();
        writer.roll_back(to).await?;
        expect_rolled_back(&writer, &before, to, "after a prune").await?;
        let next = writer.add("list+next").await?;
        let lists = last % 40 + 2;
        let found = writer.read(next).await?;
        let count = found.fields.iter().map(|field| field.changes.len()).sum();
        same("the thread continues after a prune and a roll back", lists, count)?;
    }
    let gone = store.get("t", "", Some(side)).await.works("a missing checkpoint is not an error")?;
    same("a removed branch is gone", None, gone.found)
}

pub(crate) async fn copies_are_rolled_back_separately(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    let first = writer.add("list+1").await?;
    for n in 2..200 {
        writer.add(&format!("list+{n}")).await?;
    }
    let before = ThreadContents::read(&*store, "t", &[""]).await?;
    store.copy("t", "copy", None).await.works("a thread can be copied")?;
    let mut copy = Writer { thread: "copy".into(), ..writer.clone() };
    writer.roll_back(Some(first)).await?;
    ThreadContents::read(&*store, "copy", &[""])
        .await?
        .expect_equal(&before, "a copy is unchanged after its original was rolled back")?;
    copy.roll_back(Some(first)).await?;
    let after = ThreadContents::read(&*store, "t", &[""]).await?;
    expect_rolled_back(&copy, &before, Some(first), "of a copy").await?;
    copy.add("list+new").await?;
    let unchanged = ThreadContents::read(&*store, "t", &[""]).await?;
    unchanged.expect_equal(&after, "an original is unchanged after its copy was rolled back")
}

pub(crate) async fn roll_backs_survive_a_reopen(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    drop(store);
    let mut all = Vec::new();
    for n in 0..100 {
        all.push(writer.add(&format!("list+{n}")).await?);
    }
    let before = ThreadContents::read(&*writer.store, "t", &[""]).await?;
    let to = all.get(70).copied();
    writer.roll_back(to).await?;
    let mut writer = writer.reopen(target).await?;
    expect_rolled_back(&writer, &before, to, "after a reopen").await?;
    let next = writer.add("list+next").await?;
    let found = writer.read(next).await?.fields.iter().map(|field| field.changes.len()).sum();
    same("the thread continues after a reopen", 72, found)
}
