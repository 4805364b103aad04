//! Roll backs whose future is dropped after any number of polls, also while a run is active.

use std::future::{IntoFuture, poll_fn};
use std::sync::Arc;
use std::task::Poll;

use serde::{Deserialize, Serialize};
use superstep::checkpoint::CheckpointId;
use superstep::interrupt::Question;
use superstep::thread::Thread;
use superstep::{ContextWith, END, Error, ErrorKind, Graph, NodeError, Outcome, START};

use tests::stores::on_every_store;
use tests::story::{Probe, Story, StoryUpdate, begin, log_of, recording_nodes, say, story};

recording_nodes! { open sibling close print }

#[derive(Serialize, Deserialize, Debug)]
struct Go;

impl Question for Go {
    type Answer = bool;
}

async fn ask(_: &Story, cx: &ContextWith<Probe>) -> Result<StoryUpdate, NodeError> {
    Ok(say(format!("ask {}", cx.interrupt(Go).await)))
}

fn graph() -> Graph<Story, Probe> {
    let call = story().edge(START, open).edge(open, ask).edge(ask, close).edge(close, END);
    let call = call.compile().unwrap().as_node("call");
    let graph = story().edge(START, (&call, sibling)).edge(&call, print).edge(sibling, END).edge(print, END);
    graph.compile().unwrap()
}

type Tale = Thread<Story, Probe>;

async fn finish(thread: &Tale, probe: &Arc<Probe>) -> String {
    let mut outcome = thread.resume(()).context(Arc::clone(probe)).await.unwrap();
    while let Outcome::Interrupted(pause) = &outcome {
        let answers = pause.interrupts().iter().map(|open| open.answer_json(true.into())).collect::<Vec<_>>();
        outcome = thread.resume(answers).context(Arc::clone(probe)).await.unwrap();
    }
    log_of(outcome.state())
}

/// Polls a roll back this often and drops it. Returns its result if it has ended.
async fn roll_back(
    thread: &Tale,
    to: CheckpointId,
    polls: usize,
) -> Option<Result<Option<CheckpointId>, Error>> {
    let mut roll_back = thread.roll_back_to(to).into_future();
    for _ in 0..polls {
        if let Poll::Ready(result) = poll_fn(|cx| Poll::Ready(roll_back.as_mut().poll(cx))).await {
            return Some(result);
        }
        tokio::task::yield_now().await;
    }
    None
}

const END_LOG: &str = "in open ask true close sibling print";

#[tokio::test]
async fn dropped_roll_back_is_whole_or_nothing() {
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        for polls in (0..8).chain([16, 64, 256, 1_024, usize::MAX]) {
            let thread = store.thread(&graph());
            thread.delete().await.unwrap();
            thread.run(begin("in")).context(Arc::clone(&probe)).await.unwrap();
            let asked = thread.state().await.unwrap().unwrap().id;
            finish(&thread, &probe).await;
            let end = thread.state().await.unwrap().unwrap().id;
            let has_ended = roll_back(&thread, asked, polls).await.map(Result::unwrap).is_some();
            let head = thread.state().await.unwrap().unwrap().id;
            assert!(head == asked || (!has_ended && head == end), "{polls}");
            if head == asked {
                assert!(thread.calls(None).await.unwrap().is_empty(), "{polls}");
                assert_eq!(thread.history().await.unwrap().len(), 2, "{polls}");
            }
            assert_eq!(finish(&thread, &probe).await, END_LOG, "{polls}");
        }
    })
    .await;
}

#[tokio::test]
async fn dropped_roll_back_of_an_active_run_stops_it_or_does_nothing() {
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        for polls in (0..8).chain([16, 64, 256, 1_024, usize::MAX]) {
            let thread = store.thread(&graph());
            thread.delete().await.unwrap();
            thread.run(begin("in")).context(Arc::clone(&probe)).await.unwrap();
            let asked = thread.state().await.unwrap().unwrap().id;
            let go = thread.interrupts().await.unwrap().only::<Go>().unwrap();
            let run = thread.resume(go.answer(true)).context(Arc::clone(&probe));
            let mut run = run.start().await.unwrap().unwrap();
            run.step().await.unwrap();
            // A commit of the run may be on its way. If it comes first, it is the roll back that is refused.
            let has_rolled_back = match roll_back(&store.thread(&graph()), asked, polls).await {
                None => false,
                Some(Ok(_)) => true,
                Some(Err(error)) => {
                    assert!(matches!(error.kind(), ErrorKind::Conflict(_)), "{polls}: {error:?}");
                    false
                }
            };
            match run.finish().await {
                Ok(_) => assert!(!has_rolled_back, "{polls}"),
                Err(error) => assert!(matches!(error.kind(), ErrorKind::Conflict(_)), "{polls}: {error:?}"),
            }
            assert_eq!(finish(&store.thread(&graph()), &probe).await, END_LOG, "{polls}");
        }
    })
    .await;
}
