//! An answer that the type itself refuses: its task waits for another answer, and nothing else changes.

use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use serde_json::json;
use superstep::interrupt::{OpenInterrupt, Question};
use superstep::thread::{ListedThread, PersistentGraph, Thread, ThreadStatus};
use superstep::{ContextWith, END, ErrorKind, Graph, NodeError, START, StateGraph};
use tests::stores::on_every_store;
use tokio::time::advance;

use super::claim::{Claim, ClaimUpdate, DAY, Office, SECOND, office, say};
use super::graph_of;

/// At most 5.
#[derive(Serialize, Deserialize, Debug, Clone)]
#[serde(try_from = "u8", into = "u8")]
struct Stars(u8);

impl TryFrom<u8> for Stars {
    type Error = String;

    fn try_from(count: u8) -> Result<Self, String> {
        if count > 5 { Err(format!("{count} stars are too many")) } else { Ok(Self(count)) }
    }
}

impl From<Stars> for u8 {
    fn from(stars: Stars) -> Self {
        stars.0
    }
}

#[derive(Serialize, Deserialize)]
struct Rate;

impl Question for Rate {
    type Answer = Stars;
}

fn rated(name: &str, stars: Option<Stars>) -> ClaimUpdate {
    say(format!("{name} {:?}", stars.map(|stars| stars.0)))
}

async fn ann(_: &Claim, cx: &ContextWith<Office>) -> ClaimUpdate {
    rated("ann", cx.interrupt(Rate).within(DAY).await)
}

async fn bob(_: &Claim, cx: &ContextWith<Office>) -> ClaimUpdate {
    rated("bob", cx.interrupt(Rate).within(2 * DAY).await)
}

/// Fails after the answer, or reads it.
async fn cid(_: &Claim, cx: &ContextWith<Office>) -> Result<ClaimUpdate, NodeError> {
    let stars = cx.interrupt(Rate).await;
    if stars.0 == 0 {
        return Err(NodeError::msg("no stars"));
    }
    Ok(rated("cid", Some(stars)))
}

/// Two questions of one task.
async fn both(_: &Claim, cx: &ContextWith<Office>) -> ClaimUpdate {
    let (a, b) = tokio::join!(cx.interrupt(Rate).keyed("a"), cx.interrupt(Rate).keyed("b").within(DAY));
    say(format!("{} {:?}", a.0, b.map(|stars| stars.0)))
}

fn reviewers() -> Graph<Claim, Office> {
    StateGraph::<Claim>::with_context::<Office>()
        .edge(START, (ann, bob, cid))
        .edge(ann, END)
        .edge(bob, END)
        .edge(cid, END)
        .compile()
        .unwrap()
}

async fn entry(graph: &PersistentGraph<Claim, Office>) -> ListedThread<Claim, Office> {
    let mut all = graph.unfinished().await.unwrap();
    assert_eq!(all.len(), 1);
    all.remove(0)
}

async fn open(thread: &Thread<Claim, Office>) -> Vec<OpenInterrupt> {
    thread.interrupts().await.unwrap().interrupts().to_vec()
}

/// Answers a question with too many stars.
async fn refused(thread: &Thread<Claim, Office>, open: &OpenInterrupt) {
    open.check_answer(&json!(9)).unwrap();
    let error = thread.resume(open.answer_json(json!(9))).context(office()).await.unwrap_err();
    let ErrorKind::Node { first, others, .. } = error.kind() else { panic!("{error:?}") };
    assert!(
        first.error.to_string().ends_with("9 stars are too many; the question is open again"),
        "{error:?}"
    );
    assert!(others.is_empty());
}

async fn due(graph: &PersistentGraph<Claim, Office>, at: Option<SystemTime>) -> usize {
    graph.due(at.unwrap()).await.unwrap().len()
}

#[tokio::test(start_paused = true)]
async fn question_whose_answer_cannot_be_read_waits_for_another() {
    on_every_store(async |store| {
        let graph = graph_of!(ann).with_checkpointer(store.open());
        let thread = graph.thread("t");
        let outcome = thread.run(Claim::input()).context(office()).await.unwrap();
        let before = open(&thread).await;
        let wakes_at = outcome.pause().unwrap().wakes_at();
        assert_eq!(before[0].expires_at, wakes_at);

        refused(&thread, &before[0]).await;
        let unfinished = entry(&graph).await;
        let ThreadStatus::WaitingForAnswer(waiting) = &unfinished.status else { panic!("{unfinished:?}") };
        assert_eq!((waiting, unfinished.interrupts(), unfinished.wakes_at), (&before, &before[..], wakes_at));
        assert_eq!(open(&thread).await, before);
        assert_eq!(thread.interrupts().await.unwrap().wakes_at(), wakes_at);

        advance(DAY + SECOND).await;
        assert_eq!(due(&graph, wakes_at).await, 1);
        let outcome = thread.resume(()).context(office()).await.unwrap();
        assert_eq!(outcome.state().log, ["ann None"]);
    })
    .await;
}

/// The deadline has passed when the unreadable answer arrives: the timer does not fire in the attempt that fails.
#[tokio::test(start_paused = true)]
async fn deadline_does_not_fire_in_an_attempt_that_fails() {
    on_every_store(async |store| {
        let graph = graph_of!(ann).with_checkpointer(store.open());
        for late in [true, false] {
            let thread = graph.thread(format!("{late}"));
            thread.run(Claim::input()).context(office()).await.unwrap();
            advance(DAY + SECOND).await;
            let asked = open(&thread).await;
            refused(&thread, &asked[0]).await;
            assert_eq!(open(&thread).await, asked);
            let outcome = match late {
                // An answer that is accepted before the expiry is stored is delivered.
                true => thread.resume(asked[0].answer_json(json!(3))).context(office()).await,
                false => thread.resume(()).context(office()).await,
            };
            let expected = if late { "ann Some(3)" } else { "ann None" };
            assert_eq!(outcome.unwrap().state().log, [expected]);
        }
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn siblings_of_an_unreadable_answer_keep_waiting() {
    for concurrency in [1, 8] {
        on_every_store(async |store| {
            let graph = reviewers().with_checkpointer(store.open());
            let thread = graph.thread("t");
            let run = thread.run(Claim::input()).max_concurrency(concurrency).context(office());
            let wakes_at = run.await.unwrap().pause().unwrap().wakes_at();
            let asked = open(&thread).await;
            for which in [0, 2] {
                refused(&thread, &asked[which]).await;
                let unfinished = entry(&graph).await;
                assert!(matches!(&unfinished.status, ThreadStatus::WaitingForAnswer(open) if *open == asked));
                assert_eq!((unfinished.wakes_at, due(&graph, wakes_at).await), (wakes_at, 1));
            }
            let answers = asked.iter().map(|open| open.answer_json(json!(4)));
            let outcome = thread.resume(answers.collect::<Vec<_>>()).context(office()).await.unwrap();
            assert_eq!(outcome.state().log, ["ann Some(4)", "bob Some(4)", "cid Some(4)"]);
        })
        .await;
    }
}

#[tokio::test(start_paused = true)]
async fn other_questions_of_the_task_stay_open() {
    on_every_store(async |store| {
        let graph = graph_of!(both).with_checkpointer(store.open());
        let thread = graph.thread("t");
        thread.run(Claim::input()).context(office()).await.unwrap();
        let asked = open(&thread).await;
        refused(&thread, &asked[0]).await;
        assert_eq!(open(&thread).await, asked);
        thread.resume(asked[1].answer_json(json!(1))).context(office()).await.unwrap();
        let outcome = thread.resume(asked[0].answer_json(json!(2))).context(office()).await.unwrap();
        assert_eq!(outcome.state().log, ["2 Some(1)"]);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn failed_thread_names_its_task_and_its_open_interrupts() {
    on_every_store(async |store| {
        let graph = reviewers().with_checkpointer(store.open());
        let thread = graph.thread("t");
        let outcome = thread.run(Claim::input()).context(office()).await.unwrap();
        let wakes_at = outcome.pause().unwrap().wakes_at();
        let asked = open(&thread).await;
        thread.resume(asked[2].answer_json(json!(0))).context(office()).await.unwrap_err();

        advance(DAY + SECOND).await;
        // Resuming it would run the failed task again, each time.
        assert_eq!(due(&graph, wakes_at).await, 0);
        let failed = entry(&graph).await;
        let ThreadStatus::Failed(errors) = &failed.status else { panic!("{failed:?}") };
        assert_eq!(
            errors.iter().map(|error| (&*error.node, &*error.text)).collect::<Vec<_>>(),
            [("cid", "no stars")]
        );
        assert_eq!(failed.interrupts(), &asked[..2]);
        assert!(failed.interrupts().iter().any(|open| open.expires_at <= wakes_at));

        // The answer is stored, and the failed task runs and fails again.
        let answer = failed.interrupts()[1].answer_json(json!(5));
        failed.resume(answer).context(office()).await.unwrap_err();
        let failed = entry(&graph).await;
        assert!(matches!(&failed.status, ThreadStatus::Failed(errors) if errors.len() == 1), "{failed:?}");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn subgraph_call_with_an_unreadable_answer_waits() {
    let inner = reviewers().as_node("inner");
    let outer = StateGraph::<Claim>::with_context::<Office>().edge(START, &inner).edge(&inner, END);
    let outer = outer.compile().unwrap();
    on_every_store(async |store| {
        let graph = outer.with_checkpointer(store.open());
        let thread = graph.thread("t");
        let outcome = thread.run(Claim::input()).context(office()).await.unwrap();
        let wakes_at = outcome.pause().unwrap().wakes_at();
        let asked = open(&thread).await;
        assert_eq!(asked.len(), 3);
        let error = thread.resume(asked[0].answer_json(json!(9))).context(office()).await.unwrap_err();
        assert!(format!("{error:?}").contains("9 stars are too many"), "{error:?}");
        let unfinished = entry(&graph).await;
        assert!(matches!(&unfinished.status, ThreadStatus::WaitingForAnswer(open) if *open == asked));
        assert_eq!((unfinished.wakes_at, due(&graph, wakes_at).await), (wakes_at, 1));

        // A real failure inside the call.
        thread.resume(asked[2].answer_json(json!(0))).context(office()).await.unwrap_err();
        let failed = entry(&graph).await;
        let ThreadStatus::Failed(errors) = &failed.status else { panic!("{failed:?}") };
        assert_eq!(errors.iter().map(|error| &*error.node).collect::<Vec<_>>(), ["inner"]);
        assert_eq!(failed.interrupts(), &asked[..2]);
    })
    .await;
}
