//! A node that asks can be called by itself.

use superstep::interrupt::Attempted;
use superstep::{Context, ContextWith, GraphState, Result};

use super::{Approve, Name, Talk, TalkUpdate, approve, fine, heard};
use crate::engine::trace::here;

async fn form(_: &Talk, cx: &Context) -> Result<TalkUpdate> {
    let number = cx.step("number", async { fine(7) }).await?;
    let name = cx.interrupt(Name).await;
    let (terms, news) = (cx.interrupt(approve("terms")).await, cx.interrupt(approve("news")).await);
    Ok(heard(format!("{number} {name} {terms} {news}")))
}

fn talk() -> Talk {
    Talk::started(Talk::input()).unwrap()
}

#[test]
fn answers_are_given_by_type_and_in_order() {
    let cx = Context::detached("form").answering::<Approve>(true).answering::<Name>("Ada".to_owned());
    let update = here(form(&talk(), &cx.answering::<Approve>(false))).unwrap();
    assert_eq!(talk().updated(update).unwrap().heard, ["7 Ada true false"]);
}

#[test]
fn a_question_without_an_answer_is_given_back() {
    let cx = Context::detached("form").answering::<Name>("Ada".to_owned());
    let asked = here(async { cx.until_interrupt(form(&talk(), &cx)).await });
    let Attempted::Interrupted(questions) = asked else { panic!("{asked:?}") };
    let [open] = &questions[..] else { panic!("{questions:?}") };
    assert_eq!((&open.node[..], &open.read::<Approve>().unwrap().what[..]), ("form", "terms"));
}

#[test]
fn what_would_fail_the_task_is_told() {
    async fn nested(_: &Talk, cx: &ContextWith<u32>) -> TalkUpdate {
        let _ = cx.step("s", async { fine(cx.interrupt(approve("it")).await) }).await;
        heard("never")
    }
    let cx = ContextWith::detached("nested", 7_u32).answering::<Approve>(true);
    let failed = here(async { cx.until_interrupt(nested(&talk(), &cx)).await });
    let Attempted::Failed(error) = failed else { panic!("{failed:?}") };
    assert!(error.to_string().contains("asked inside a durable step"), "{error}");
}

#[test]
fn a_node_that_asks_nothing_just_returns() {
    async fn plain(_: &Talk, cx: &Context) -> TalkUpdate {
        tokio::task::yield_now().await;
        heard(cx.idempotency_key("k"))
    }
    let cx = Context::detached("plain");
    let Attempted::Returned(update) = here(async { cx.until_interrupt(plain(&talk(), &cx)).await }) else {
        panic!("it returns");
    };
    assert_eq!(talk().updated(update).unwrap().heard, ["detached/1:0/k"]);
}
