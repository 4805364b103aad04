//! Many callers, several handles, and calls that are dropped.

use std::future::poll_fn;
use std::task::Poll;

use futures_util::future::{join, join_all};
use superstep_store::cache::{Clear, NewEntry};

use crate::Broken;
use crate::cache::case::Here;
use crate::cache::desk::{Desk, of, put, some};
use crate::expect::{holds, same};

pub(crate) async fn writers_at_once_lose_nothing(here: Here<'_>) -> Result<(), Broken> {
    let desk = here.open().await?;
    let write = async |writer: usize| {
        for n in 0..20 {
            desk.put(&of(&format!("{writer} {n}")), "1").await?;
            desk.put(&of(&n.to_string()), &writer.to_string()).await?;
        }
        Ok::<_, Broken>(())
    };
    for written in join_all((0..30).map(write)).await {
        written?;
    }
    same("writers at once lose nothing", 620, desk.clear(Clear::All).await?)
}

pub(crate) async fn puts_are_seen_together_or_not_at_all(here: Here<'_>) -> Result<(), Broken> {
    let desk = here.open().await?;
    let both = |n: usize| vec![put(&of("a"), &n.to_string()), put(&of("b"), &n.to_string())];
    desk.puts(both(0)).await?;
    let write = async {
        for n in 1..60 {
            desk.puts(both(n)).await?;
        }
        Ok::<_, Broken>(())
    };
    let read = async {
        for round in 0..60 {
            let (first, then) = if round % 2 == 0 { ("a", "b") } else { ("b", "a") };
            let seen = (desk.get(&of(first)).await?, desk.get(&of(then)).await?);
            let number = |text: &Option<String>| text.as_ref().and_then(|text| text.parse::<usize>().ok());
            // Between the two looks more may have been put, never less.
            let together = seen.0.is_some() && number(&seen.0) <= number(&seen.1);
            holds("puts are seen together", together, (first, seen))?;
        }
        Ok::<_, Broken>(())
    };
    let (written, read) = join(write, read).await;
    written.and(read)
}

pub(crate) async fn two_open_handles_are_one_cache(here: Here<'_>) -> Result<(), Broken> {
    let (one, other) = (here.open().await?, here.open().await?);
    one.put(&of("a"), "1").await?;
    same("what one handle puts the other finds", some("1"), other.get(&of("a")).await?)?;
    other.put(&of("a"), "2").await?;
    same("what one handle puts the other overwrites", some("2"), one.get(&of("a")).await?)?;
    drop(one);
    same("a handle goes on when the other is closed", 1, other.clear(Clear::All).await?)
}

/// Polls a put so many times, then drops it; whether it was acknowledged.
async fn dropped_after(desk: &Desk, puts: Vec<NewEntry>, polls: usize) -> bool {
    let mut call = desk.cache.put(puts, desk.now);
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

pub(crate) async fn a_dropped_put_is_whole_or_nothing_at_all(here: Here<'_>) -> Result<(), Broken> {
    let desk = here.open().await?;
    let (a, b) = (of("a"), of("b"));
    for round in 0..40 {
        let value = round.to_string();
        let acknowledged = dropped_after(&desk, vec![put(&a, &value), put(&b, &value)], round % 8).await;
        // Behind it: whatever comes of the dropped one has come of it by then.
        desk.put(&of("c"), &value).await?;
        let seen = (desk.get(&a).await?, desk.get(&b).await?);
        same("a dropped put is whole or nothing", &seen.0, &seen.1)?;
        if acknowledged {
            same("what was acknowledged is there", Some(&value), seen.0.as_ref())?;
        }
    }
    Ok(())
}

pub(crate) async fn what_was_put_is_there_when_it_is_opened_again(here: Here<'_>) -> Result<(), Broken> {
    let desk = here.open().await?;
    desk.put(&of("ever"), "1").await?;
    desk.put_for(&of("short"), "2", 10).await?;
    desk.put(&of("gone"), "3").await?;
    desk.put_for(&of("gone"), "3", 1).await?;
    drop(desk);
    let desk = here.open().await?;
    same("what lives for ever is there", some("1"), desk.get(&of("ever")).await?)?;
    same("what lives for a time, too", some("2"), desk.later(9).get(&of("short")).await?)?;
    same("until it expires", None, desk.later(10).get(&of("short")).await?)?;
    same("and what has expired does not come back", None, desk.later(1).get(&of("gone")).await?)
}
