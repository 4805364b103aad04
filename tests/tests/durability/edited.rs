//! Every prefix of the writes of an edited thread can be read and continued, and a roll back is one of them.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use superstep::checkpoint::{BatchWrite, Checkpointer as _, NamespaceQuery};
use superstep::interrupt::Question;
use superstep::thread::{Goto, Thread, keep_plan};
use superstep::{ContextWith, Durability, END, Graph, NodeError, Outcome, Route, START};
use tests::story::{Probe, Story, StoryUpdate, begin, log_of, recording_nodes, say, story};

use crate::prefixes::{recording_store, reopened};

recording_nodes! { open sibling print }

#[derive(Serialize, Deserialize)]
struct Go;

impl Question for Go {
    type Answer = bool;
}

#[derive(Serialize, Deserialize)]
struct Topic {
    title: String,
}

#[derive(Route)]
enum Plan {
    #[to(research)]
    Research(Topic),
    #[to(END)]
    Done,
}

async fn plan(_: &Story) -> Vec<Plan> {
    vec![Plan::Research(Topic { title: "tea".to_owned() }), Plan::Done]
}

async fn research(topic: &Topic) -> StoryUpdate {
    say(topic.title.clone())
}

async fn ask(_: &Story, cx: &ContextWith<Probe>) -> Result<StoryUpdate, NodeError> {
    let yes = cx.interrupt(Go).await;
    Ok(say(format!("ask {yes}")))
}

fn graph() -> Graph<Story, Probe> {
    let inner = story().edge(START, open).edge(open, ask).edge(ask, END).compile().unwrap();
    let call = inner.as_node("call");
    let graph = story().edge(START, (&call, sibling, plan)).edge(&call, print).edge(print, END);
    graph.edge(sibling, END).edge(research, END).node(plan).compile().unwrap()
}

async fn finish(thread: &Thread<Story, Probe>) -> Story {
    let resume =
        async |answers: Vec<_>| thread.resume(answers).context(Arc::<Probe>::default()).await.unwrap();
    let mut outcome = resume(Vec::new()).await;
    while let Outcome::Interrupted(pause) = &outcome {
        let open = pause.interrupts().iter();
        outcome = resume(open.map(|open| open.answer_json(true.into())).collect()).await;
    }
    outcome.into_state()
}

#[tokio::test]
async fn edited_thread_continues_from_every_prefix() {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        let (store, batches) = recording_store();
        let probe = Arc::new(Probe::default());
        let thread = graph().with_checkpointer(store).thread("t");
        thread.run(begin("in")).durability(durability).context(Arc::clone(&probe)).await.unwrap();
        let asked = thread.state().await.unwrap().unwrap().id;
        let goto = Goto::named("research").packet(serde_json::json!({"title": "milk"}));
        let resumed = thread.resume(()).goto(goto).durability(durability);
        resumed.context(Arc::clone(&probe)).await.unwrap();
        thread.update(say("edited"), keep_plan()).context(Arc::clone(&probe)).await.unwrap();
        finish(&thread).await;
        thread.roll_back_to(asked).await.unwrap();
        let end = log_of(&finish(&thread).await);
        assert_eq!(end, "in open ask true sibling print tea");

        let batches = batches.lock().unwrap().clone();
        let is_roll_back = |write: &BatchWrite| matches!(write, BatchWrite::RollBack { .. });
        let roll_backs: Vec<usize> =
            (0..batches.len()).filter(|&at| batches[at].writes.iter().any(is_roll_back)).collect();
        let [roll_back] = roll_backs[..] else { panic!("{roll_backs:?}") };
        for count in 1..=batches.len() {
            let about = format!("{count} of {} batches, {durability:?}", batches.len());
            let store = reopened(&batches[..count]).await;
            let graph = graph().with_checkpointer(store.clone());
            let thread = graph.thread("t");
            thread.calls(None).await.unwrap();
            graph.unfinished().await.unwrap();
            if count == roll_back + 1 {
                assert_eq!(thread.state().await.unwrap().unwrap().id, asked, "{about}");
                let namespaces = store.namespaces(NamespaceQuery::new("t")).await.unwrap().items;
                assert_eq!(namespaces.len(), 1, "the answered call begins anew: {about}");
            }
            let Some(head) = thread.state().await.unwrap() else { continue };
            let log = log_of(&finish(&thread).await);
            assert!(log.starts_with("in "), "{about}: {log}");
            assert!(log.contains("ask true") && log.contains("print"), "{about}: {log}");
            if count > roll_back {
                assert_eq!(log, end, "{about}");
            }
            let head_after = thread.state().await.unwrap().unwrap();
            assert!(head_after.is_finished() && head_after.id >= head.id, "{about}");
        }
    }
}

#[tokio::test]
async fn roll_back_that_fails_leaves_the_thread_as_it_was() {
    use crate::instrumented_store::{Fault, InstrumentedStore};
    use crate::journal::Journal;
    use superstep::checkpoint::MemoryCheckpointer;

    for fault in [Fault::Before, Fault::After] {
        let memory = MemoryCheckpointer::new();
        let thread = graph().with_checkpointer(memory.clone()).thread("t");
        thread.run(begin("in")).context(Arc::<Probe>::default()).await.unwrap();
        let asked = thread.state().await.unwrap().unwrap().id;
        let end = log_of(&finish(&thread).await);
        let mut store = InstrumentedStore::new(memory.clone(), Journal::with_listener(|_| {}));
        store.fails = Some((0, fault));
        let failing = graph().with_checkpointer(store).thread("t");
        failing.roll_back_to(asked).await.unwrap_err();
        let head = thread.state().await.unwrap().unwrap();
        match fault {
            Fault::Before => assert_eq!(log_of(head.state.as_ref().unwrap()), end),
            Fault::After => assert_eq!(head.id, asked),
        }
        // Sent again.
        thread.roll_back_to(asked).await.unwrap();
        assert_eq!(log_of(&finish(&thread).await), end);
    }
}
