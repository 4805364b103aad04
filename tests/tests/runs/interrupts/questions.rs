//! A question suspends its task, and an answer reruns the node from the start.

use std::num::NonZeroU8;
use std::sync::atomic::{AtomicU32, Ordering};

use serde::{Deserialize, Serialize};
use serde_json::json;
use superstep::interrupt::{Answer, InterruptMismatch, Question};
use superstep::{Context, ContextWith, END, ErrorKind, Graph, Outcome, START, StateGraph};

use super::{Approve, Name, Talk, TalkUpdate, approve, heard, run_test, until_stopped};
use crate::engine::trace::block_on;

async fn buy(_: &Talk, cx: &Context) -> TalkUpdate {
    let yes = cx.interrupt(approve("buy")).await;
    heard(format!("buy {yes}, attempt {}", cx.attempt()))
}

/// A question whose answer has a rule that its schema does not express.
#[derive(Serialize, Deserialize)]
struct Count;

impl Question for Count {
    type Answer = NonZeroU8;
}

async fn thank(_: &Talk) -> TalkUpdate {
    heard("thank")
}

fn shop() -> Graph<Talk> {
    StateGraph::<Talk>::new().edge(START, buy).edge(buy, thank).edge(thank, END).compile().unwrap()
}

#[test]
fn run_without_an_answer_ends_interrupted() {
    let outcome = block_on(shop().run(Talk::input())).unwrap();
    let Outcome::Interrupted(pause) = &outcome else { panic!("{outcome:?}") };
    let [open] = pause.interrupts() else { panic!("{pause:?}") };
    assert_eq!((open.node.as_str(), open.task, open.name.as_str(), &open.key), ("buy", 0, "Approve", &None));
    assert_eq!(open.question, json!({"what": "buy"}));
    assert_eq!((pause.before(), pause.after()), (&[][..], &[][..]));
    assert!(outcome.state().heard.is_empty());
    assert!(outcome.into_state().heard.is_empty());
}

#[test]
fn answer_reruns_the_node() {
    let state = run_test(async {
        let mut run = shop().run(Talk::input()).start()?;
        until_stopped(&mut run).await?;
        let asked = run.pause().unwrap().only::<Approve>()?;
        assert_eq!((*asked).clone(), approve("buy"));
        run.answer(asked.answer(true))?;
        let outcome = run.finish().await?;
        assert!(matches!(outcome, Outcome::Done(_)));
        Ok(outcome.into_state())
    });
    // An interrupt does not count as a failed attempt.
    assert_eq!(state.heard, ["buy true, attempt 1", "thank"]);
}

#[test]
fn step_without_an_answer_asks_again() {
    let ids = run_test(async {
        let mut run = shop().run(Talk::input()).start()?;
        let mut ids = Vec::new();
        for _ in 0..3 {
            until_stopped(&mut run).await?;
            ids.push(run.pause().unwrap().interrupts()[0].id.clone());
        }
        Ok(ids)
    });
    assert_eq!(ids, ["1:0/Approve/0"; 3]);
}

#[test]
fn answer_is_accepted_once_for_an_open_interrupt() {
    run_test(async {
        let mut run = shop().run(Talk::input()).start()?;
        let early = run.answer(Answer::json("1:0/Approve/0", json!(true))).unwrap_err();
        assert!(matches!(early.kind(), ErrorKind::InvalidAnswer { .. }), "{early}");
        until_stopped(&mut run).await?;
        let asked = run.pause().unwrap().only::<Approve>()?;
        // Answers are accepted together or not at all.
        let twice = run.answer([asked.answer(true), asked.answer(false)]).unwrap_err();
        assert_eq!(
            twice.to_string(),
            "graph `Talk`: the answer to question `1:0/Approve/0` was refused: the same call answers it twice"
        );
        run.answer(asked.answer(false))?;
        let again = run.answer(asked.answer(true)).unwrap_err();
        assert!(again.to_string().ends_with("no open interrupt has this id"), "{again}");
        assert_eq!(run.finish().await?.into_state().heard[0], "buy false, attempt 1");
        Ok(())
    });
}

#[test]
fn changed_question_is_asked_again() {
    async fn haggle(_: &Talk, cx: &ContextWith<AtomicU32>) -> TalkUpdate {
        let price = cx.context().fetch_add(1, Ordering::SeqCst).min(1);
        let yes = cx.interrupt(approve(&format!("for {price}"))).await;
        heard(format!("{yes} for {price}"))
    }
    let graph = StateGraph::<Talk>::with_context::<AtomicU32>()
        .edge(START, haggle)
        .edge(haggle, END)
        .compile()
        .unwrap();
    run_test(async {
        let mut run = graph.run(Talk::input()).context(AtomicU32::new(0)).start()?;
        until_stopped(&mut run).await?;
        let first = run.pause().unwrap().only::<Approve>()?;
        run.answer(first.answer(false))?;
        until_stopped(&mut run).await?;
        let second = run.pause().unwrap().only::<Approve>()?;
        assert_eq!((first.what.as_str(), second.what.as_str()), ("for 0", "for 1"));
        run.answer(second.answer(true))?;
        assert_eq!(run.finish().await?.into_state().heard, ["true for 1"]);
        Ok(())
    });
}

#[test]
fn answer_that_only_the_type_refuses_fails_the_task_and_reopens_the_interrupt() {
    async fn count(_: &Talk, cx: &Context) -> TalkUpdate {
        let count = cx.interrupt(Count).await;
        heard(format!("{count}, attempt {}", cx.attempt()))
    }
    let graph = StateGraph::<Talk>::new().edge(START, count).edge(count, END).compile().unwrap();
    run_test(async {
        let mut run = graph.run(Talk::input()).start()?;
        until_stopped(&mut run).await?;
        let open = run.pause().unwrap().interrupts()[0].clone();
        // The schema does not express that the number is not 0.
        run.answer(open.answer_json(json!(0)))?;
        let error = run.step().await.unwrap_err();
        let ErrorKind::Node { first, .. } = error.kind() else { panic!("{error}") };
        let said = first.error.to_string();
        assert!(said.contains("`Count` (`1:0/Count/0`)") && said.contains("expected a nonzero u8"), "{said}");

        assert_eq!(run.pause().unwrap().interrupts(), std::slice::from_ref(&open));
        run.answer(open.answer_json(json!(1)))?;
        assert_eq!(run.finish().await?.into_state().heard[0], "1, attempt 2");
        Ok(())
    });
}

#[test]
fn sequential_questions_keep_their_answers() {
    async fn form(_: &Talk, cx: &Context) -> TalkUpdate {
        let name = cx.interrupt(Name).await;
        let first = cx.interrupt(approve("terms")).await;
        let second = cx.interrupt(approve("news")).await;
        heard(format!("{name} {first} {second}"))
    }
    let graph = StateGraph::<Talk>::new().edge(START, form).edge(form, END).compile().unwrap();
    run_test(async {
        let mut run = graph.run(Talk::input()).start()?;
        until_stopped(&mut run).await?;
        let name = run.pause().unwrap().only::<Name>()?;
        run.answer(name.answer("Ada".to_owned()))?;
        until_stopped(&mut run).await?;
        let terms = run.pause().unwrap().only::<Approve>()?;
        run.answer(terms.answer(true))?;
        until_stopped(&mut run).await?;
        let news = run.pause().unwrap().only::<Approve>()?;
        assert_eq!((terms.what.as_str(), news.what.as_str()), ("terms", "news"));
        run.answer(news.answer(false))?;
        assert_eq!(run.finish().await?.into_state().heard, ["Ada true false"]);
        Ok(())
    });
}

#[test]
fn concurrent_questions_are_answered_in_any_order() {
    async fn vote(_: &Talk, cx: &Context) -> TalkUpdate {
        let (a, name, b) = tokio::join!(
            cx.interrupt(approve("a")),
            cx.interrupt(Name),
            cx.interrupt(approve("b")).keyed("b")
        );
        heard(format!("{a} {name} {b}"))
    }
    let graph = StateGraph::<Talk>::new().edge(START, vote).edge(vote, END).compile().unwrap();
    run_test(async {
        let mut run = graph.run(Talk::input()).start()?;
        until_stopped(&mut run).await?;
        let pause = run.pause().unwrap();
        let asked: Vec<_> = pause.interrupts().iter().map(|open| open.name.as_str()).collect();
        assert_eq!(asked, ["Approve", "Name", "Approve"]);
        assert_eq!(
            pause.only::<Approve>().unwrap_err(),
            InterruptMismatch::Ambiguous { wanted: "`Approve`".to_owned(), count: 2 }
        );
        assert_eq!(pause.all::<Approve>()?.len(), 2);
        let (b, name) = (pause.by_key::<Approve>("b")?, pause.only::<Name>()?);
        assert_eq!(b.what, "b");
        let wrong = pause.by_key::<Name>("b").unwrap_err().to_string();
        assert_eq!(
            wrong,
            "no open question matches `Name` with key `b`: the open questions are `Approve`, `Name`, `Approve` with key `b`"
        );

        run.answer([b.answer(false), name.answer("Ada".to_owned())])?;
        until_stopped(&mut run).await?;
        let a = run.pause().unwrap().only::<Approve>()?;
        run.answer(a.answer(true))?;
        assert_eq!(run.finish().await?.into_state().heard, ["true Ada false"]);
        Ok(())
    });
}

#[test]
fn unstorable_answer_is_refused() {
    #[derive(serde::Serialize, serde::Deserialize)]
    struct Pairs;
    impl Question for Pairs {
        type Answer = std::collections::HashMap<(u32, u32), u32>;
    }
    async fn ask(_: &Talk, cx: &Context) -> TalkUpdate {
        heard(cx.interrupt(Pairs).await.len().to_string())
    }
    let graph = StateGraph::<Talk>::new().edge(START, ask).edge(ask, END).compile().unwrap();
    run_test(async {
        let mut run = graph.run(Talk::input()).start()?;
        until_stopped(&mut run).await?;
        let asked = run.pause().unwrap().only::<Pairs>()?;
        let error = run.answer(asked.answer([((1, 2), 3)].into())).unwrap_err();
        assert!(error.to_string().contains("it cannot be stored: a key of a JSON object"), "{error}");
        assert_eq!(run.pause().unwrap().interrupts().len(), 1);
        Ok(())
    });
}
