//! Questions and sleeps at the limits of stored data: what is stored can be read, and the rest fails its node.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use superstep::ContextWith;
use superstep::interrupt::Question;
use superstep::limits::MAX_KEY_BYTES;
use superstep::thread::ThreadStatus;
use tests::stores::on_every_store;

use super::claim::{Claim, ClaimUpdate, Office, SECOND, node_error, office, say};
use super::graph_of;

#[derive(Serialize, Deserialize)]
struct Form;

/// The depth of the answer schema of a form.
static LEVELS: AtomicUsize = AtomicUsize::new(0);

impl Question for Form {
    type Answer = Value;

    fn answer_schema() -> Option<Value> {
        let levels = 1..LEVELS.load(Ordering::SeqCst);
        let nested = levels.fold(json!("core"), |inner, _| json!([inner]));
        Some(json!({ "examples": nested }))
    }
}

#[tokio::test]
async fn deep_answer_schema_is_read_or_fails_its_node() {
    async fn fill(_: &Claim, cx: &ContextWith<Office>) -> ClaimUpdate {
        say(cx.interrupt(Form).await.to_string())
    }
    let graph = graph_of!(fill);
    on_every_store(async |store| {
        LEVELS.store(128, Ordering::SeqCst);
        let thread = store.thread(&graph);
        let error = thread.run(Claim::input()).context(office()).await.unwrap_err();
        let text = node_error(&error);
        assert!(text.contains("question `Form` has an answer schema that cannot be stored"), "{text}");
        assert!(thread.interrupts().await.unwrap().interrupts().is_empty());

        LEVELS.store(127, Ordering::SeqCst);
        let outcome = thread.resume(()).context(office()).await.unwrap();
        let open = thread.interrupts().await.unwrap();
        assert_eq!(open.interrupts(), outcome.pause().unwrap().interrupts());
        let answer = open.answer_json(json!(17)).unwrap();
        assert_eq!(thread.resume(answer).context(office()).await.unwrap().state().log, ["17"]);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn long_key_of_a_sleep_fails_its_node() {
    async fn sleeps(_: &Claim, cx: &ContextWith<Office>) -> ClaimUpdate {
        // The id of a sleep is one byte longer than its key.
        let length = if cx.context().version() == 0 { MAX_KEY_BYTES } else { MAX_KEY_BYTES - 1 };
        cx.sleep(SECOND).keyed("k".repeat(length)).await;
        say("slept")
    }
    let graph = graph_of!(sleeps);
    on_every_store(async |store| {
        let persistent = graph.with_checkpointer(store.open());
        let (thread, work) = (persistent.thread("t"), office());
        let error = thread.run(Claim::input()).context(work.clone()).await.unwrap_err();
        assert!(node_error(&error).contains("at most 16384 can be stored"), "{error}");
        let unfinished = persistent.unfinished().await.unwrap();
        assert!(matches!(unfinished[0].status, ThreadStatus::Failed(_)), "{:?}", unfinished[0].status);
        work.deploy(1);
        assert_eq!(thread.resume(()).context(work).await.unwrap().state().log, ["slept"]);
    })
    .await;
}
