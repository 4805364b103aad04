//! A run that is dropped anywhere goes on where it was, and takes no step again that it has kept.

use std::future::{IntoFuture as _, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::Poll;

use superstep::workflow::{Flow, Workflow};
use superstep::{ContextWith, Durability, ErrorKind, Graph, NodeError, Result};

use super::stores::on_every_store;

async fn count(to: &u32, done: &ContextWith<AtomicU32>, previous: Option<&u32>) -> Result<u32> {
    let mut sum = previous.copied().unwrap_or_default();
    for number in 1..=*to {
        sum += done
            .step(&number.to_string(), async {
                tokio::task::yield_now().await;
                done.context().fetch_add(1, Ordering::Relaxed);
                Ok::<_, NodeError>(number)
            })
            .await?;
    }
    Ok(sum)
}

fn graph() -> Graph<Flow<u32, u32>, AtomicU32> {
    Workflow::with_context(count).compile().unwrap()
}

#[tokio::test]
async fn wherever_it_is_dropped() {
    on_every_store(async |place| {
        for (nth, polls) in (0..60).enumerate() {
            let done = Arc::new(AtomicU32::new(0));
            let name = format!("t{nth}");
            let thread =
                |place: &super::stores::Place| graph().with_checkpointer(place.open()).thread(name.clone());
            assert_eq!(thread(place).run(1).context(Arc::clone(&done)).await.unwrap().value().unwrap(), 1);
            {
                let run = thread(place).run(3).run_id("second").context(Arc::clone(&done));
                let mut run = pin!(run.durability(Durability::Sync).into_future());
                for _ in 0..polls {
                    let ended = poll_fn(|cx| Poll::Ready(run.as_mut().poll(cx).is_ready())).await;
                    if ended {
                        break;
                    }
                    tokio::task::yield_now().await;
                }
            }
            // What the dropped run had on its way to the store may arrive just now.
            let ended = loop {
                match thread(place).run(3).run_id("second").context(Arc::clone(&done)).await {
                    Err(error) if matches!(error.kind(), ErrorKind::Conflict(_)) => {}
                    ended => break ended.unwrap(),
                }
            };
            assert_eq!(ended.value().unwrap(), 7, "after {polls} polls");
            // Dropped while a step's result was on its way, that step may be done twice; none else.
            let done = done.load(Ordering::Relaxed);
            assert!((4..=5).contains(&done), "{done} after {polls} polls");
        }
    })
    .await;
}
