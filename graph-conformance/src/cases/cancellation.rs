//! Calls whose future is dropped.

use std::future::poll_fn;
use std::task::Poll;

use superstep_store::checkpoint::{BatchWrite, CheckpointError, CheckpointFuture, Fence};

use crate::Broken;
use crate::case::Target;
use crate::expect::{Expect as _, holds, same};
use crate::shorthand::{key, record};
use crate::writer::{Writer, checkpoint_write};

/// Polls a call `polls` times and drops it. Returns the result if the call completed.
async fn dropped_after<T>(
    mut call: CheckpointFuture<'_, T>,
    polls: usize,
) -> Option<Result<T, CheckpointError>> {
    for _ in 0..polls {
        let polled = poll_fn(|cx| Poll::Ready(call.as_mut().poll(cx))).await;
        if let Poll::Ready(result) = polled {
            return Some(result);
        }
        pause().await;
    }
    None
}

/// Yields to other tasks of this thread.
async fn pause() {
    let mut waited = false;
    poll_fn(|cx| {
        if waited {
            return Poll::Ready(());
        }
        waited = true;
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

pub(crate) async fn dropped_commit_is_all_or_nothing(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    writer.add("list+start").await?;
    let mut expected = "list+start".to_owned();
    for polls in (0..40).map(|n| n % 8) {
        let mut new = writer.draft("list+a list+b");
        let id = new.checkpoint.id;
        new.records = vec![record(key(0, superstep_store::checkpoint::RecordKind::Finished, ""), "x")];
        let batch = writer.batch(vec![checkpoint_write(new)]);
        if let Some(result) = dropped_after(store.commit(batch), polls).await {
            result.works("a commit with the current fence succeeds")?;
            let found = store.get("t", "", Some(id)).await.works("a thread can be read")?.found;
            holds("an acknowledged write is found", found.is_some(), id)?;
        }
        // A commit that this read does not see is never made.
        let loaded = store.get("t", "", None).await.works("a thread can be read")?;
        let Some(found) = loaded.found else {
            return Err(Broken::new("the thread exists", "a head", "nothing"));
        };
        if found.checkpoint.id == id {
            expected.push_str(" list+a list+b");
        }
        same(
            "a dropped commit is all or nothing",
            expected.clone(),
            crate::shorthand::format_fields(&found),
        )?;
        let records = usize::from(found.checkpoint.id == id);
        same("a dropped commit is all or nothing", records, found.records.len())?;
        writer.fence = loaded.fence;
        let next = writer.draft("list+next");
        let made = writer.commit(writer.batch(vec![checkpoint_write(next)])).await;
        made.works("the fence that is read after a dropped commit is final")?;
        expected.push_str(" list+next");
        if let Some(head) = writer.fence.head {
            writer
                .expect_fields(
                    head,
                    &expected,
                    "a dropped commit takes effect before later commits, or never",
                )
                .await?;
        }
    }
    Ok(())
}

pub(crate) async fn dropped_roll_back_is_all_or_nothing(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    let first = writer.add("list+start").await?;
    let mut inner = writer.in_namespace("child");
    inner.add("list+inner").await?;
    for polls in (0..24).map(|n| n % 8) {
        for n in 0..3 {
            writer.add(&format!("list+{n}")).await?;
        }
        let head = writer.fence.head;
        let answer =
            record(key(0, superstep_store::checkpoint::RecordKind::Answer, "q"), &format!("{polls}"));
        let writes = vec![
            BatchWrite::roll_back("", first),
            BatchWrite::records(first, vec![], vec![answer.clone()]),
            BatchWrite::roll_back("child", None),
        ];
        let epoch = writer.fence.epoch + 1;
        let done = dropped_after(store.commit(writer.batch(writes).epoch(epoch)), polls).await;
        let acknowledged = done.map(|result| result.works("a roll back with the current fence succeeds"));
        let fence = store.get("t", "", None).await.works("a thread can be read")?.fence;
        let inside = store.get("t", "child", None).await.works("a thread can be read")?.fence.head;
        let records = writer.read(first).await?.records;
        if fence.epoch == epoch {
            let expected = (Some(first), None, vec![answer.clone()]);
            same("a dropped roll back is made as a whole", expected, (fence.head, inside, records))?;
            inner.fence = Fence::new(epoch, None);
            inner.add("list+inner").await?;
        } else {
            holds("an acknowledged roll back is found", acknowledged.is_none(), fence)?;
            let found = (fence.head, inside.is_some(), records.contains(&answer));
            same("a dropped roll back has no effect", (head, true, false), found)?;
        }
        writer.fence = fence;
        inner.fence.epoch = fence.epoch;
        let left = if fence.epoch == epoch { "list+start" } else { "" };
        if let (false, Some(head)) = (left.is_empty(), fence.head) {
            writer.expect_fields(head, left, "the remaining checkpoint reads unchanged").await?;
        }
        if let Some(result) = acknowledged {
            result?;
        }
        writer.roll_back(Some(first)).await?;
        writer.write_records(first, vec![answer.key], vec![]).await?;
    }
    Ok(())
}

pub(crate) async fn dropped_read_has_no_effect(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    for n in 0..30 {
        writer.add(&format!("n={n}")).await?;
        for polls in 0..3 {
            let _ = dropped_after(store.get("t", "", None), polls).await;
            let _ = dropped_after(store.list(crate::thread_contents::query("t", "")), polls).await;
            let _ = dropped_after(store.threads(Default::default()), polls).await;
        }
        writer.expect_fence("a dropped read has no effect").await?;
    }
    Ok(())
}

pub(crate) async fn dropped_delete_and_copy_are_all_or_nothing(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    for polls in 0..6 {
        let name = format!("t{polls}");
        let mut writer = Writer::new(&store, &name);
        for n in 0..20 {
            writer.add(&format!("list+{n}")).await?;
        }
        let original = crate::thread_contents::ThreadContents::read(&*store, &name, &[""]).await?;
        let copy = format!("{name} copy");
        let _ = dropped_after(store.copy(&name, &copy, None), polls).await;
        // The results of the dropped calls are final after this write.
        writer.raise_epoch().await?;
        if store.get(&copy, "", None).await.works("a missing thread is not an error")?.origin.is_some() {
            let copied = crate::thread_contents::ThreadContents::read(&*store, &copy, &[""]).await?;
            copied.expect_equal(&original, "a dropped copy is all or nothing")?;
        }
        let _ = dropped_after(store.delete(&name, None), polls).await;
        Writer::new(&store, &format!("{name} other")).raise_epoch().await?;
        let loaded = store.get(&name, "", None).await.works("a missing thread is not an error")?;
        match loaded.found {
            None => same("a dropped delete is all or nothing", 0, loaded.fence.epoch)?,
            Some(found) => same("a dropped delete is all or nothing", 19, found.checkpoint.step + 1)?,
        }
    }
    Ok(())
}
