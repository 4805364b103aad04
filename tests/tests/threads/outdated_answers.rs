//! An answer applies only to the question as it was shown, not to a changed question.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use serde::{Deserialize, Serialize};
use serde_json::json;
use superstep::interrupt::{Answer, OpenInterrupt, Question};
use superstep::{ContextWith, END, Error, ErrorKind, Graph, GraphState, Outcome, START, StateGraph};

use super::stores::on_every_store;

#[derive(GraphState, Clone, Debug)]
struct Bill {
    #[state(input)]
    amount: u32,
    paid: Option<String>,
}

#[derive(Serialize, Deserialize, Debug)]
struct Approve {
    total: f64,
    parts: BTreeMap<String, u32>,
}

impl Question for Approve {
    type Answer = bool;
}

type Rate = AtomicU32;

async fn pay(bill: &Bill, cx: &ContextWith<Rate>) -> BillUpdate {
    let total = f64::from(bill.amount * cx.context().load(Ordering::SeqCst)) * 0.1;
    let parts = [("a", 1), ("b", 2)].map(|(name, part)| (name.to_owned(), part)).into();
    let yes = cx.interrupt(Approve { total, parts }).await;
    Bill::update().paid(format!("{yes} for {total:.1}"))
}

fn graph() -> Graph<Bill, Rate> {
    StateGraph::<Bill>::with_context::<Rate>().edge(START, pay).edge(pay, END).compile().unwrap()
}

fn assert_changed(result: Result<Outcome<Bill>, Error>) {
    let error = result.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::InterruptNotOpen { changed: true, .. }), "{error}");
    assert!(error.to_string().contains("has changed since it was read"), "{error}");
}

#[tokio::test]
async fn answer_to_an_outdated_question_is_refused() {
    on_every_store(async |store| {
        let rate = Arc::new(AtomicU32::new(1));
        store.thread(&graph()).run(Bill::input(7_u32)).context(Arc::clone(&rate)).await.unwrap();
        let thread = store.thread(&graph());
        let pending = thread.interrupts().await.unwrap();
        let stale = pending.only::<Approve>().unwrap();
        rate.store(100, Ordering::SeqCst);
        thread.resume(()).context(Arc::clone(&rate)).await.unwrap();

        assert_changed(thread.resume(stale.answer(true)).context(Arc::clone(&rate)).await);
        assert_changed(
            thread.resume(pending.interrupts()[0].answer_json(json!(true))).context(Arc::clone(&rate)).await,
        );
        let now = store.thread(&graph()).interrupts().await.unwrap().only::<Approve>().unwrap();
        assert_eq!((now.id(), now.total), (stale.id(), 70.0));

        // The original question makes the original answer valid again.
        rate.store(1, Ordering::SeqCst);
        thread.resume(()).context(Arc::clone(&rate)).await.unwrap();
        assert_changed(thread.resume(now.answer(true)).context(Arc::clone(&rate)).await);
        let outcome = thread.resume(stale.answer(true)).context(rate).await.unwrap();
        assert_eq!(outcome.state().paid.as_deref(), Some("true for 0.7"));
    })
    .await;
}

#[tokio::test]
async fn answer_by_id_alone_skips_the_question_check() {
    on_every_store(async |store| {
        let rate = Arc::new(AtomicU32::new(1));
        let thread = store.thread(&graph());
        thread.run(Bill::input(7_u32)).context(Arc::clone(&rate)).await.unwrap();
        let sent = serde_json::to_string(&thread.interrupts().await.unwrap().interrupts()[0]).unwrap();
        // The order of keys in a map does not change the question.
        let sent = sent.replace(r#""a":1,"b":2"#, r#""b":2,"a":1"#);
        let back: OpenInterrupt = serde_json::from_str(&sent).unwrap();
        rate.store(100, Ordering::SeqCst);
        thread.resume(()).context(Arc::clone(&rate)).await.unwrap();
        assert_changed(thread.resume(back.answer_json(json!(true))).context(Arc::clone(&rate)).await);
        rate.store(1, Ordering::SeqCst);
        thread.resume(()).context(Arc::clone(&rate)).await.unwrap();
        let outcome = thread.resume(back.answer_json(json!(true))).context(Arc::clone(&rate)).await.unwrap();
        assert_eq!(outcome.state().paid.as_deref(), Some("true for 0.7"));

        thread.run(Bill::input(7_u32)).context(Arc::clone(&rate)).await.unwrap();
        let by_id = Answer::json(&thread.interrupts().await.unwrap().interrupts()[0].id, json!(false));
        rate.store(100, Ordering::SeqCst);
        thread.resume(()).context(Arc::clone(&rate)).await.unwrap();
        let outcome = thread.resume(by_id).context(rate).await.unwrap();
        assert_eq!(outcome.state().paid.as_deref(), Some("false for 70.0"));
    })
    .await;
}

#[tokio::test]
async fn run_without_a_thread_refuses_outdated_answers() {
    let rate = Arc::new(AtomicU32::new(1));
    let mut run = graph().run(Bill::input(7_u32)).context(Arc::clone(&rate)).start().unwrap();
    while run.step().await.unwrap() {}
    let stale = run.pause().unwrap().only::<Approve>().unwrap();
    rate.store(100, Ordering::SeqCst);
    while run.step().await.unwrap() {}
    let error = run.answer(stale.answer(true)).unwrap_err();
    assert!(error.to_string().ends_with("the question has changed since it was shown"), "{error}");
    let now = run.pause().unwrap().only::<Approve>().unwrap();
    run.answer(now.answer(true)).unwrap();
    assert_eq!(run.finish().await.unwrap().into_state().paid.as_deref(), Some("true for 70.0"));
}
