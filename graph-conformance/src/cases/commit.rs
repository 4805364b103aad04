//! Commits and conflicts.

use futures_util::future::join_all;
use superstep_store::checkpoint::{BatchWrite, CheckpointError, CheckpointId, CheckpointSource, Fence};
use superstep_store::payload::Payload;

use crate::Broken;
use crate::case::Target;
use crate::expect::{Expect as _, Refusal as _, holds, same};
use crate::shorthand::{key, record};
use crate::thread_contents::ThreadContents;
use crate::writer::{Writer, checkpoint_write, run, time};
use superstep_store::checkpoint::RecordKind::Finished;

pub(crate) async fn first_commit_creates_the_thread(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    let id = writer.add("a=1").await?;
    let loaded = store.get("t", "", None).await.works("a thread can be read")?;
    same("the added checkpoint is the head", Fence::new(0, id), loaded.fence)?;
    same("the thread has the origin of its first batch", Some("origin of t"), loaded.origin.as_deref())
}

pub(crate) async fn checkpoint_reads_back_unchanged(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    let metadata = serde_json::json!({
        "user": "Ada", "n": 1, "f": 1.0, "big": u64::MAX, "small": i64::MIN, "tiny": 5e-324, "third": 1.0 / 3.0,
        "null": null, "list": [1, [2.5, {"deep": "\u{1F980}"}]], "": "empty key",
    });
    writer.run = run("run ü 1", metadata.as_object().cloned().unwrap_or_default());
    let sources =
        [CheckpointSource::Input, CheckpointSource::Loop, CheckpointSource::Update, CheckpointSource::Fork];
    let steps = [-1, 0, 1, i64::MAX];
    let nexts: [&[&str]; 4] = [&["__start__"], &["a", "b", "a"], &[], &["", "x y", "\u{1F980}"]];
    for ((source, step), next) in sources.into_iter().zip(steps).zip(nexts) {
        let mut new = writer.draft("a+1");
        new.checkpoint.source = source;
        new.checkpoint.step = step;
        new.checkpoint.next = next.iter().map(|name| (*name).into()).collect();
        new.checkpoint.progress = (step != 0).then(|| Payload::json("{\"joins\":[1, 2]}"));
        new.checkpoint.created_at = time(step);
        let expected = new.checkpoint.clone();
        writer.step = 0;
        let id = new.checkpoint.id;
        writer.commit(writer.batch(vec![checkpoint_write(new)])).await.works("a checkpoint can be added")?;
        let found = writer.read(id).await?.checkpoint;
        same("a checkpoint reads back unchanged", &expected, &found)?;
    }
    Ok(())
}

pub(crate) async fn time_before_1970_is_stored(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    let mut new = writer.draft("a=1");
    new.checkpoint.created_at = std::time::UNIX_EPOCH - std::time::Duration::from_millis(1);
    let expected = new.checkpoint.created_at;
    let id = writer.add_draft(new).await?;
    same("a time has millisecond precision", expected, writer.read(id).await?.checkpoint.created_at)
}

pub(crate) async fn one_of_two_writers_wins(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut first = Writer::new(&store, "t");
    first.add("a=0").await?;
    let mut second = first.clone();
    let seen = first.fence;
    let won = first.add("a=1").await?;
    let lost = second.draft("a=2");
    let result = second.commit(second.batch(vec![checkpoint_write(lost)])).await;
    result.conflicts("the second writer gets a conflict", seen, Fence::new(0, won))?;
    first.expect_fields(won, "a=1", "the writes of the second writer are not stored").await?;
    first.expect_fence("a conflict changes nothing").await
}

pub(crate) async fn one_of_many_concurrent_writers_wins(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    writer.add("a=0").await?;
    for round in 0..5 {
        let drafts: Vec<_> = (0..20).map(|n| writer.draft(&format!("a={n}"))).collect();
        let ids: Vec<_> = drafts.iter().map(|new| new.checkpoint.id).collect();
        let commits = drafts.into_iter().map(|new| store.commit(writer.batch(vec![checkpoint_write(new)])));
        let results = join_all(commits).await;
        let mut won = Vec::new();
        for (id, result) in ids.iter().zip(&results) {
            match result {
                Ok(()) => won.push(*id),
                Err(CheckpointError::Conflict(_)) => {}
                Err(error) => {
                    let found = crate::expect::error_chain(error);
                    return Err(Broken::new("every other writer gets a conflict", "a conflict", found));
                }
            }
        }
        same(format!("one of twenty concurrent writers wins (round {round})"), 1, won.len())?;
        writer.fence.head = won.first().copied();
        writer.expect_fence("the head is the checkpoint of the winner").await?;
    }
    let all = crate::thread_contents::ids(&*store, crate::thread_contents::query("t", "")).await?;
    same("each round adds one checkpoint", 6, all.len())
}

pub(crate) async fn commit_requires_matching_epoch_and_head(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    let nowhere = Fence::new(3, CheckpointId::after(None));
    let early = {
        let mut changed = writer.batch(Vec::new());
        changed.fence = nowhere;
        changed.epoch = 3;
        changed
    };
    store.commit(early).await.conflicts(
        "a missing thread has epoch 0 and no head",
        nowhere,
        Fence::default(),
    )?;

    let first = writer.add("a=1").await?;
    writer.raise_epoch().await?;
    writer.add("a=2").await?;
    let right = writer.fence;
    let wrong = [
        ("an older epoch", {
            let mut changed = right;
            changed.epoch = 0;
            changed
        }),
        ("a later epoch", {
            let mut changed = right;
            changed.epoch = 2;
            changed
        }),
        ("an older head", {
            let mut changed = right;
            changed.head = Some(first);
            changed
        }),
        ("no head", {
            let mut changed = right;
            changed.head = None;
            changed
        }),
        ("an unknown head", {
            let mut changed = right;
            changed.head = Some(CheckpointId::after(right.head));
            changed
        }),
        ("nothing right", Fence::default()),
    ];
    for (what, fence) in wrong {
        for writes in [Vec::new(), vec![checkpoint_write(writer.draft("a=3"))]] {
            let batch = {
                let mut changed = writer.batch(writes);
                changed.fence = fence;
                changed.epoch = 7;
                changed
            };
            let promise = format!("a writer that expects {what} is refused");
            store.commit(batch).await.conflicts(promise, fence, right)?;
        }
    }
    writer.expect_fence("a conflict changes nothing").await
}

pub(crate) async fn higher_epoch_stops_the_older_run(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut old = Writer::new(&store, "t");
    let id = old.add("a=1").await?;
    let mut new = old.clone();
    new.raise_epoch().await?;
    let late = record(key(0, Finished, ""), "late");
    let write = BatchWrite::records(id, vec![], vec![late]);
    let result = old.commit(old.batch(vec![write])).await;
    result.conflicts("a higher epoch refuses records of the older run", old.fence, new.fence)?;
    same("the refused records are not stored", 0, new.read(id).await?.records.len())?;
    // A batch of records may raise the epoch too.
    let put = vec![record(key(0, Finished, ""), "mine")];
    let batch = new.batch(vec![BatchWrite::records(id, vec![], put)]);
    new.commit(batch.epoch(5)).await.works("a batch of records may raise the epoch by more than one")?;
    new.expect_fence("the thread has the epoch of the batch").await
}

pub(crate) async fn epoch_may_be_large(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    for epoch in [9_007_199_254_740_993, i64::MAX as u64] {
        let batch = writer.batch(Vec::new()).epoch(epoch);
        writer.commit(batch).await.works("an epoch may be any number of 63 bits")?;
        writer.expect_fence("the thread has exactly the epoch of the batch").await?;
    }
    Ok(())
}

pub(crate) async fn epoch_never_decreases(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    writer.raise_epoch().await?;
    writer.raise_epoch().await?;
    let batch = writer.batch(vec![checkpoint_write(writer.draft("a=1"))]).epoch(1);
    let result = store.commit(batch).await;
    holds("a batch with a lower epoch is refused", result.is_err(), &result)?;
    writer.expect_fence("a refused batch changes nothing").await
}

pub(crate) async fn epoch_is_per_thread_and_head_per_namespace(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut outer = Writer::new(&store, "t");
    let outer_id = outer.add("a=1").await?;
    let mut inner = outer.in_namespace("child:0");
    inner.add("b=1").await?;
    outer.expect_fence("a commit to one namespace does not move the head of another").await?;
    inner.raise_epoch().await?;
    let stale = outer.fence;
    let result = outer.commit(outer.batch(vec![checkpoint_write(outer.draft("a=2"))])).await;
    result.conflicts("the epoch is shared by all namespaces of a thread", stale, Fence::new(1, outer_id))?;
    outer.fence.epoch = 1;
    let id = outer.add("a+2").await?;
    outer.expect_fields(id, "a=1 a+2", "namespaces share no values").await?;
    inner.expect_fence("a commit to one namespace does not move the head of another").await?;
    let other = store.get("t", "never written", None).await.works("a missing namespace is not an error")?;
    same(
        "a namespace without checkpoints has the epoch of the thread and no head",
        Fence::new(1, None),
        other.fence,
    )
}

pub(crate) async fn two_namespaces_may_have_the_same_id(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut outer = Writer::new(&store, "t");
    let id = outer.add("a=outer").await?;
    let mut inner = outer.in_namespace("child");
    let mut new = inner.draft("a=inner");
    new.checkpoint.id = id;
    inner.add_draft(new).await?;
    outer.write_records(id, vec![], vec![record(key(0, Finished, ""), "outer")]).await?;
    outer.expect_fields(id, "a=outer", "namespaces may have equal ids").await?;
    inner.expect_fields(id, "a=inner", "namespaces may have equal ids").await?;
    same("records belong to the checkpoint of one namespace", 0, inner.read(id).await?.records.len())
}

pub(crate) async fn repeated_batch_is_a_conflict(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    let first = writer.batch(vec![checkpoint_write(writer.draft("a+1"))]);
    let before = writer.fence;
    writer.commit(first.clone()).await.works("a first batch is accepted")?;
    let again = store.commit(first).await;
    again.conflicts("a repeated batch is a conflict", before, writer.fence)?;
    let raise = writer.batch(Vec::new()).epoch(1);
    let before = writer.fence;
    writer.commit(raise.clone()).await.works("an epoch can be raised")?;
    store.commit(raise).await.conflicts(
        "a repeated batch does not raise the epoch again",
        before,
        writer.fence,
    )?;
    let all = ThreadContents::read(&*store, "t", &[""]).await?;
    let checkpoints = all.namespaces.first().map_or(0, |namespace| namespace.checkpoints.len());
    same("a repeated batch adds nothing", 1, checkpoints)?;
    match writer.fence.head {
        Some(head) => writer.expect_fields(head, "a+1", "a repeated batch adds nothing").await,
        None => Ok(()),
    }
}

pub(crate) async fn different_origin_is_a_conflict(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    writer.add("a=1").await?;
    let batch = {
        let mut changed = writer.batch(vec![checkpoint_write(writer.draft("a=2"))]);
        changed.origin = "another".into();
        changed
    };
    let result = store.commit(batch).await;
    result.conflicts("a batch with another origin is refused", writer.fence, writer.fence)?;
    let batch = {
        let mut changed = writer.batch(Vec::new());
        changed.origin = "another".into();
        changed.epoch = 1;
        changed
    };
    let result = store.commit(batch).await;
    result.conflicts("a batch with another origin is refused", writer.fence, writer.fence)?;
    writer.expect_fence("a conflict changes nothing").await
}
