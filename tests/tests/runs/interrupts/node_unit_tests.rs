//! Unit tests of nodes that ask questions.

use superstep::interrupt::Attempted;
use superstep::{Context, ContextWith, GraphState, Result};

use super::{Approve, Name, Talk, TalkUpdate, approve, heard, ok};
use crate::engine::trace::block_on;

async fn form(_: &Talk, cx: &Context) -> Result<TalkUpdate> {
    let number = cx.step("number", async { ok(7) }).await?;
    let name = cx.interrupt(Name).await;
    let (terms, news) = (cx.interrupt(approve("terms")).await, cx.interrupt(approve("news")).await);
    Ok(heard(format!("{number} {name} {terms} {news}")))
}

fn talk() -> Talk {
    Talk::started(Talk::input()).unwrap()
}

#[test]
fn answers_are_matched_by_type_in_order() {
    let cx = Context::detached("form").answering::<Approve>(true).answering::<Name>("Ada".to_owned());
    let update = block_on(form(&talk(), &cx.answering::<Approve>(false))).unwrap();
    assert_eq!(talk().updated(update).unwrap().heard, ["7 Ada true false"]);
}

#[test]
fn unanswered_question_is_returned() {
    let cx = Context::detached("form").answering::<Name>("Ada".to_owned());
    let asked = block_on(async { cx.until_interrupt(form(&talk(), &cx)).await });
    let Attempted::Interrupted(questions) = asked else { panic!("{asked:?}") };
    let [open] = &questions[..] else { panic!("{questions:?}") };
    assert_eq!((&open.node[..], &open.read::<Approve>().unwrap().what[..]), ("form", "terms"));
}

#[test]
fn task_failure_is_returned() {
    async fn nested(_: &Talk, cx: &ContextWith<u32>) -> TalkUpdate {
        let _ = cx.step("s", async { ok(cx.interrupt(approve("it")).await) }).await;
        heard("never")
    }
    let cx = ContextWith::detached("nested", 7_u32).answering::<Approve>(true);
    let failed = block_on(async { cx.until_interrupt(nested(&talk(), &cx)).await });
    let Attempted::Failed(error) = failed else { panic!("{failed:?}") };
    assert!(error.to_string().contains("asked inside a durable step"), "{error}");
}

#[test]
fn node_without_questions_returns() {
    async fn plain(_: &Talk, cx: &Context) -> TalkUpdate {
        tokio::task::yield_now().await;
        heard(cx.idempotency_key("k"))
    }
    let cx = Context::detached("plain");
    let Attempted::Returned(update) = block_on(async { cx.until_interrupt(plain(&talk(), &cx)).await })
    else {
        panic!("it returns");
    };
    assert_eq!(talk().updated(update).unwrap().heard, ["detached/1:0/k"]);
}
