//! Concurrent callers.

use futures_util::future::{join, join_all};
use superstep_store::checkpoint::{BatchWrite, CheckpointId, RecordKind::Finished};

use crate::Broken;
use crate::case::Target;
use crate::expect::{Expect as _, Refusal as _, holds, same};
use crate::shorthand::{key, record};
use crate::thread_contents::{ids, query};
use crate::writer::{Writer, checkpoint_write};

pub(crate) async fn hundred_concurrent_threads_lose_nothing(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let all = (0..100).map(|n| write_a_thread(Writer::new(&store, &format!("t{n}")), n));
    for result in join_all(all).await {
        result?;
    }
    for n in 0..100 {
        let name = format!("t{n}");
        same("each thread has all of its checkpoints", 20, ids(&*store, query(&name, "")).await?.len())?;
        let loaded = store.get(&name, "", None).await.works("a thread can be read")?;
        let list: String = (0..20).map(|step| format!("list+{n}.{step} ")).collect();
        let fields = loaded.found.as_ref().map(crate::shorthand::format_fields);
        same("each thread has its own values, in order", Some(format!("{list}n={n}")), fields)?;
    }
    Ok(())
}

async fn write_a_thread(mut writer: Writer, n: usize) -> Result<(), Broken> {
    for step in 0..20 {
        let id = writer.add(&format!("list+{n}.{step} n={n}")).await?;
        writer.write_records(id, vec![], vec![record(key(0, Finished, ""), "done")]).await?;
        if step % 5 == 0 {
            let read = writer.read(id).await?;
            same(
                "a writer reads its own writes",
                (step, 1),
                (read.checkpoint.step + 1, read.records.len() as i64),
            )?;
        }
    }
    Ok(())
}

pub(crate) async fn commits_follow_the_order_of_first_polls(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    writer.add("list+0").await?;
    // A pipeline: each commit expects the previous one, and all are polled before the first completes.
    let mut commits = Vec::new();
    let mut plan = writer.clone();
    for n in 1..=50 {
        let new = plan.draft(&format!("list+{n}"));
        let id = new.checkpoint.id;
        let finished = BatchWrite::records(id, vec![], vec![record(key(0, Finished, ""), "x")]);
        commits.push(store.commit(plan.batch(vec![checkpoint_write(new)])));
        plan.fence.head = Some(id);
        plan.step += 1;
        commits.push(store.commit(plan.batch(vec![finished])));
    }
    for result in join_all(commits).await {
        result.works("a commit succeeds after the commit that was polled before it")?;
    }
    plan.expect_fence("the last checkpoint is the head").await?;
    let list: Vec<_> = (0..=50).map(|n| format!("list+{n}")).collect();
    match plan.fence.head {
        Some(head) => plan.expect_fields(head, &list.join(" "), "all commits are made in order").await,
        None => Ok(()),
    }
}

pub(crate) async fn two_handles_share_one_store(target: Target<'_>) -> Result<(), Broken> {
    let (first, second) = (target.open().await?, target.open().await?);
    let mut one = Writer::new(&first, "t");
    one.add("a=0").await?;
    let mut other = Writer { store: second.clone(), ..one.clone() };
    other.expect_fence("a handle reads the commits of another handle").await?;
    let mut wins = [0, 0];
    for round in 0..30 {
        let fence = one.fence;
        let (a, b) = (one.draft(&format!("a={round}")), other.draft(&format!("b={round}")));
        let heads = [a.checkpoint.id, b.checkpoint.id];
        let (a, b) = join(
            one.store.commit(one.batch(vec![checkpoint_write(a)])),
            other.store.commit(other.batch(vec![checkpoint_write(b)])),
        )
        .await;
        let promise = "one of two concurrent handles wins";
        let winner = usize::from(a.is_err());
        let (lost, won) = if winner == 0 { (b, a) } else { (a, b) };
        won.works(promise)?;
        let head = heads.get(winner).copied();
        lost.conflicts(promise, fence, {
            let mut changed = fence;
            changed.head = head;
            changed
        })?;
        if let Some(wins) = wins.get_mut(winner) {
            *wins += 1;
        }
        one.fence.head = head;
        other.fence.head = head;
        one.step += 1;
        other.step += 1;
    }
    one.expect_fence("both handles see the same head").await?;
    other.expect_fence("both handles see the same head").await?;
    other.raise_epoch().await?;
    let stale = one.fence;
    let result = one.commit(one.batch(Vec::new())).await;
    result.conflicts("an epoch that one handle raises stops the other handle", stale, other.fence)?;
    drop(first);
    drop(one);
    other.add("a=end").await?;
    other.expect_fence("a handle works after the other one is closed").await
}

pub(crate) async fn readers_and_writers_do_not_deadlock(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    writer.add("list+0").await?;
    let write = async {
        for n in 1..=50 {
            writer.add(&format!("list+{n}")).await?;
        }
        Ok::<_, Broken>(())
    };
    let read = || async {
        let mut last: Option<CheckpointId> = None;
        for _ in 0..30 {
            let found = ids(&*store, query("t", "")).await?;
            holds("a reader never sees an older state of a thread", found.first().copied() >= last, &found)?;
            last = found.first().copied();
            let loaded = store.get("t", "", None).await.works("a thread can be read during writes")?;
            holds("a reader never sees an older state of a thread", loaded.fence.head >= last, loaded.fence)?;
            last = loaded.fence.head;
        }
        Ok::<_, Broken>(())
    };
    let readers = join_all((0..8).map(|_| read()));
    let (written, readers) = join(write, readers).await;
    readers.into_iter().fold(written, Result::and)
}
