//! Concurrent callers, several handles, and dropped calls.

use std::future::poll_fn;
use std::task::Poll;

use futures_util::future::{join, join_all};
use superstep_store::cache::{Clear, NewEntry};

use crate::Broken;
use crate::cache::case::Target;
use crate::cache::fixture::{Fixture, of, put, some};
use crate::expect::{holds, same};

pub(crate) async fn concurrent_writers_lose_nothing(target: Target<'_>) -> Result<(), Broken> {
    let fixture = target.open().await?;
    let write = async |writer: usize| {
        for n in 0..20 {
            fixture.put(&of(&format!("{writer} {n}")), "1").await?;
            fixture.put(&of(&n.to_string()), &writer.to_string()).await?;
        }
        Ok::<_, Broken>(())
    };
    for written in join_all((0..30).map(write)).await {
        written?;
    }
    same("concurrent writers lose nothing", 620, fixture.clear(Clear::All).await?)
}

pub(crate) async fn puts_become_visible_together(target: Target<'_>) -> Result<(), Broken> {
    let fixture = target.open().await?;
    let both = |n: usize| vec![put(&of("a"), &n.to_string()), put(&of("b"), &n.to_string())];
    fixture.puts(both(0)).await?;
    let write = async {
        for n in 1..60 {
            fixture.puts(both(n)).await?;
        }
        Ok::<_, Broken>(())
    };
    let read = async {
        for round in 0..60 {
            let (first, then) = if round % 2 == 0 { ("a", "b") } else { ("b", "a") };
            let seen = (fixture.get(&of(first)).await?, fixture.get(&of(then)).await?);
            let number = |text: &Option<String>| text.as_ref().and_then(|text| text.parse::<usize>().ok());
            // Another put may have completed between the two reads.
            let together = seen.0.is_some() && number(&seen.0) <= number(&seen.1);
            holds("entries of one put become visible together", together, (first, seen))?;
        }
        Ok::<_, Broken>(())
    };
    let (written, read) = join(write, read).await;
    written.and(read)
}

pub(crate) async fn two_handles_share_one_cache(target: Target<'_>) -> Result<(), Broken> {
    let (one, other) = (target.open().await?, target.open().await?);
    one.put(&of("a"), "1").await?;
    same("a handle finds results that another handle has put", some("1"), other.get(&of("a")).await?)?;
    other.put(&of("a"), "2").await?;
    same("a handle replaces results that another handle has put", some("2"), one.get(&of("a")).await?)?;
    drop(one);
    same("a handle works after the other one is closed", 1, other.clear(Clear::All).await?)
}

/// Polls a put `polls` times and drops it. Returns `true` if it was acknowledged.
async fn dropped_after(fixture: &Fixture, puts: Vec<NewEntry>, polls: usize) -> bool {
    let mut call = fixture.cache.put(puts, fixture.now);
    for _ in 0..polls {
        if poll_fn(|cx| Poll::Ready(call.as_mut().poll(cx))).await.is_ready() {
            return true;
        }
        let mut waited = false;
        poll_fn(|cx| {
            cx.waker().wake_by_ref();
            if std::mem::replace(&mut waited, true) { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }
    false
}

pub(crate) async fn dropped_put_is_all_or_nothing(target: Target<'_>) -> Result<(), Broken> {
    let fixture = target.open().await?;
    let (a, b) = (of("a"), of("b"));
    for round in 0..40 {
        let value = round.to_string();
        let acknowledged = dropped_after(&fixture, vec![put(&a, &value), put(&b, &value)], round % 8).await;
        // The result of the dropped put is final after another put.
        fixture.put(&of("c"), &value).await?;
        let seen = (fixture.get(&a).await?, fixture.get(&b).await?);
        same("a dropped put is all or nothing", &seen.0, &seen.1)?;
        if acknowledged {
            same("an acknowledged write is found", Some(&value), seen.0.as_ref())?;
        }
    }
    Ok(())
}

pub(crate) async fn results_survive_a_reopen(target: Target<'_>) -> Result<(), Broken> {
    let fixture = target.open().await?;
    fixture.put(&of("ever"), "1").await?;
    fixture.put_for(&of("short"), "2", 10).await?;
    fixture.put(&of("gone"), "3").await?;
    fixture.put_for(&of("gone"), "3", 1).await?;
    drop(fixture);
    let fixture = target.open().await?;
    same("a result without a time to live survives", some("1"), fixture.get(&of("ever")).await?)?;
    same("a result with a time to live survives", some("2"), fixture.later(9).get(&of("short")).await?)?;
    same("it expires after the reopen", None, fixture.later(10).get(&of("short")).await?)?;
    same("an expired result does not come back", None, fixture.later(1).get(&of("gone")).await?)
}
