//! A run that is dropped after any poll continues, and repeats no stored step.

use std::future::poll_fn;
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
async fn dropped_run_repeats_at_most_one_step() {
    on_every_store(async |store| {
        for (nth, polls) in (0..60).enumerate() {
            let done = Arc::new(AtomicU32::new(0));
            let name = format!("t{nth}");
            let thread = |store: &super::stores::TestStore| {
                graph().with_checkpointer(store.open()).thread(name.clone())
            };
            assert_eq!(thread(store).run(1).context(Arc::clone(&done)).await.unwrap().value().unwrap(), 1);
            {
                let run = thread(store).run(3).run_id("second").context(Arc::clone(&done));
                let mut run = pin!(run.durability(Durability::Sync));
                for _ in 0..polls {
                    let ended = poll_fn(|cx| Poll::Ready(run.as_mut().poll(cx).is_ready())).await;
                    if ended {
                        break;
                    }
                    tokio::task::yield_now().await;
                }
            }
            // A batch that the dropped run submitted may arrive now.
            let ended = loop {
                match thread(store).run(3).run_id("second").context(Arc::clone(&done)).await {
                    Err(error) if matches!(error.kind(), ErrorKind::Conflict(_)) => {}
                    ended => break ended.unwrap(),
                }
            };
            assert_eq!(ended.value().unwrap(), 7, "after {polls} polls");
            // If the run is dropped while a step's result is being written, only that step may run twice.
            let done = done.load(Ordering::Relaxed);
            assert!((4..=5).contains(&done), "{done} after {polls} polls");
        }
    })
    .await;
}
