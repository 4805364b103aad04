//! Each answer goes to the interrupt that it names, from any process, and applies once.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::json;
use superstep::interrupt::{Answer, Question};
use superstep::{ContextWith, END, Error, ErrorKind, Graph, NodeError, Outcome, Route, START};

use super::stores::on_every_store;
use super::story::{Probe, Story, StoryUpdate, begin, enter, log_of, recording_nodes, say, story};

recording_nodes! { sibling last }

#[derive(Serialize, Deserialize, Debug)]
struct Approve {
    what: String,
}

impl Question for Approve {
    type Answer = bool;
}

#[derive(Serialize, Deserialize, Debug)]
struct Name;

impl Question for Name {
    type Answer = String;
}

fn approve(what: impl Into<String>) -> Approve {
    Approve { what: what.into() }
}

async fn buy(_: &Story, cx: &ContextWith<Probe>) -> Result<StoryUpdate, NodeError> {
    let yes = cx.interrupt(approve("buy")).await;
    enter(cx, "buy").await?;
    Ok(say(format!("buy {yes} at attempt {}", cx.attempt())))
}

async fn who(_: &Story, cx: &ContextWith<Probe>) -> Result<StoryUpdate, NodeError> {
    let name = cx.interrupt(Name).await;
    enter(cx, "who").await?;
    Ok(say(format!("who {name}")))
}

fn shop() -> Graph<Story, Probe> {
    story()
        .edge(START, (buy, who, sibling))
        .join((buy, who, sibling), last)
        .edge(last, END)
        .compile()
        .unwrap()
}

/// Returns the id of the interrupt that is not open.
fn not_open(result: Result<Outcome<Story>, Error>) -> String {
    let error = result.unwrap_err();
    let ErrorKind::InterruptNotOpen { id, thread, .. } = error.kind() else { panic!("{error}") };
    assert_eq!(thread, "t");
    let text = format!(
        "question `{id}` is not open on thread `t`: it was answered before, it has expired, or its task no"
    );
    assert!(error.to_string().contains(&text), "{error}");
    id.clone()
}

#[tokio::test]
async fn two_interrupts_are_answered_by_different_processes() {
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        let outcome = store.thread(&shop()).run(begin("in")).context(Arc::clone(&probe)).await.unwrap();
        let asked: Vec<_> = outcome.pause().unwrap().interrupts().iter().map(|open| &*open.node).collect();
        assert_eq!(asked, ["buy", "who"]);

        let thread = store.thread(&shop());
        let name = thread.interrupts().await.unwrap().only::<Name>().unwrap();
        let outcome = thread.resume(name.answer("Ada".to_owned())).context(Arc::clone(&probe)).await.unwrap();
        let asked: Vec<_> = outcome.pause().unwrap().interrupts().iter().map(|open| &*open.node).collect();
        assert_eq!(asked, ["buy"]);
        assert_eq!(log_of(outcome.state()), "in", "the superstep is not applied yet");

        let thread = store.thread(&shop());
        let yes = thread.interrupts().await.unwrap().only::<Approve>().unwrap();
        let outcome = thread.resume(yes.answer(true)).context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(log_of(outcome.state()), "in buy true at attempt 1 who Ada sibling last");
        assert_eq!(probe.ran(), "sibling who buy last");
    })
    .await;
}

#[tokio::test]
async fn two_interrupts_are_answered_together() {
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        store.thread(&shop()).run(begin("in")).context(Arc::clone(&probe)).await.unwrap();
        let thread = store.thread(&shop());
        let pending = thread.interrupts().await.unwrap();
        let (yes, name) = (pending.only::<Approve>().unwrap(), pending.only::<Name>().unwrap());
        let answers = [name.answer("Ada".to_owned()), yes.answer(false)];
        let outcome = thread.resume(answers).context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(log_of(outcome.state()), "in buy false at attempt 1 who Ada sibling last");
        assert_eq!(probe.ran(), "sibling buy who last");
    })
    .await;
}

#[tokio::test]
async fn repeated_and_unknown_answers_change_nothing() {
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        store.thread(&shop()).run(begin("in")).context(Arc::clone(&probe)).await.unwrap();
        let thread = store.thread(&shop());
        let pending = thread.interrupts().await.unwrap();
        let (yes, name) = (pending.only::<Approve>().unwrap(), pending.only::<Name>().unwrap());

        // One wrong answer: none of the answers applies.
        let answers = [yes.answer(true), Answer::json("1:7/Approve/0", json!(true))];
        assert_eq!(not_open(thread.resume(answers).context(Arc::clone(&probe)).await), "1:7/Approve/0");
        let twice = [yes.answer(true), yes.answer(false)];
        assert_eq!(not_open(thread.resume(twice).context(Arc::clone(&probe)).await), yes.id());
        assert_eq!(thread.interrupts().await.unwrap().interrupts(), pending.interrupts());

        thread.resume(yes.answer(true)).context(Arc::clone(&probe)).await.unwrap();
        let repeated = thread.resume(yes.answer(false)).context(Arc::clone(&probe)).await;
        assert_eq!(not_open(repeated), yes.id());
        let outcome = thread.resume(name.answer("Ada".to_owned())).context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(log_of(outcome.state()), "in buy true at attempt 1 who Ada sibling last");

        let history = thread.history().await.unwrap().len();
        assert_eq!(not_open(thread.resume(yes.answer(false)).context(probe).await), yes.id());
        assert_eq!(thread.history().await.unwrap().len(), history);
    })
    .await;
}

#[tokio::test]
async fn answer_never_reaches_the_next_interrupt_of_its_node() {
    #[derive(Route)]
    enum Loop {
        #[to(haggle)]
        Again,
        #[to(END)]
        Out,
    }
    async fn haggle(_: &Story, cx: &ContextWith<Probe>) -> (StoryUpdate, Loop) {
        let yes = cx.interrupt(approve("haggle")).await;
        (say(yes.to_string()), if yes { Loop::Out } else { Loop::Again })
    }
    let graph = story().edge(START, haggle).compile().unwrap();
    on_every_store(async |store| {
        let thread = store.thread(&graph);
        thread.run(begin("in")).context(Probe::default()).await.unwrap();
        let first = thread.interrupts().await.unwrap().only::<Approve>().unwrap();
        thread.resume(first.answer(false)).context(Probe::default()).await.unwrap();
        // The same question, asked again.
        let second = thread.interrupts().await.unwrap().only::<Approve>().unwrap();
        assert_ne!(first.id(), second.id());
        let repeated = thread.resume(first.answer(true)).context(Probe::default()).await;
        assert_eq!(not_open(repeated), first.id());
        let outcome = thread.resume(second.answer(true)).context(Probe::default()).await.unwrap();
        assert_eq!(log_of(outcome.state()), "in false true");
    })
    .await;
}

#[tokio::test]
async fn interrupts_are_found_by_key_in_another_process() {
    async fn vote(_: &Story, cx: &ContextWith<Probe>) -> StoryUpdate {
        let (ann, bob) = tokio::join!(
            cx.interrupt(approve("of bob")).keyed("ann"),
            cx.interrupt(approve("of ann")).keyed("bob")
        );
        say(format!("{ann} {bob}"))
    }
    let graph = story().edge(START, vote).edge(vote, END).compile().unwrap();
    on_every_store(async |store| {
        store.thread(&graph).run(begin("in")).context(Probe::default()).await.unwrap();
        let pending = store.thread(&graph).interrupts().await.unwrap();
        assert!(pending.only::<Approve>().is_err());
        assert_eq!(pending.all::<Approve>().unwrap().len(), 2);
        let bob = pending.by_key::<Approve>("bob").unwrap();
        assert_eq!(bob.what, "of ann");
        store.thread(&graph).resume(bob.answer(false)).context(Probe::default()).await.unwrap();
        let ann = store.thread(&graph).interrupts().await.unwrap().only::<Approve>().unwrap();
        let outcome = store.thread(&graph).resume(ann.answer(true)).context(Probe::default()).await.unwrap();
        assert_eq!(log_of(outcome.state()), "in true false");
    })
    .await;
}

#[tokio::test]
async fn changed_question_is_asked_again() {
    async fn offer(_: &Story, cx: &ContextWith<Probe>) -> Result<StoryUpdate, NodeError> {
        // The question depends on something outside, such as a price.
        let price = if enter(cx, "sold out").await.is_ok() { "1" } else { "2" };
        let yes = cx.interrupt(approve(price)).await;
        Ok(say(format!("{yes} for {price}")))
    }
    let graph = story().edge(START, offer).edge(offer, END).compile().unwrap();
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        store.thread(&graph).run(begin("in")).context(Arc::clone(&probe)).await.unwrap();
        let cheap = store.thread(&graph).interrupts().await.unwrap().only::<Approve>().unwrap();
        probe.set_failing(&["sold out"]);
        let outcome = store.thread(&graph).resume(cheap.answer(true)).context(Arc::clone(&probe)).await;
        assert!(outcome.unwrap().pause().is_some());
        let dear = store.thread(&graph).interrupts().await.unwrap().only::<Approve>().unwrap();
        assert_eq!((cheap.what.as_str(), dear.what.as_str()), ("1", "2"));
        let outcome = store.thread(&graph).resume(dear.answer(false)).context(Arc::clone(&probe)).await;
        assert_eq!(log_of(outcome.unwrap().state()), "in false for 2");
    })
    .await;
}

#[tokio::test]
async fn task_that_fails_after_its_answer_does_not_ask_again() {
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        store.thread(&shop()).run(begin("in")).context(Arc::clone(&probe)).await.unwrap();
        probe.set_failing(&["buy"]);
        let yes = store.thread(&shop()).interrupts().await.unwrap().only::<Approve>().unwrap();
        store.thread(&shop()).resume(yes.answer(true)).context(Arc::clone(&probe)).await.unwrap_err();
        let pending = store.thread(&shop()).interrupts().await.unwrap();
        assert_eq!(pending.interrupts().len(), 1, "the sibling's question is still open");
        probe.set_failing(&[]);
        let name = pending.only::<Name>().unwrap();
        let resumed = store.thread(&shop()).resume(name.answer("Ada".to_owned()));
        let outcome = resumed.context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(log_of(outcome.state()), "in buy true at attempt 2 who Ada sibling last");
    })
    .await;
}

#[tokio::test]
async fn interrupt_stays_open_when_a_sibling_fails() {
    async fn hasty(_: &Story, cx: &ContextWith<Probe>) -> Result<StoryUpdate, NodeError> {
        match cx.attempt() {
            // The sibling reaches its interrupt first.
            1 => enter(cx, "hasty").await.map(|()| say("hasty")),
            2 => Err(NodeError::msg("at once")),
            _ => Ok(say("hasty")),
        }
    }
    let graph = story().edge(START, (hasty, buy)).join((hasty, buy), last).edge(last, END).compile().unwrap();
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        probe.set_failing(&["hasty"]);
        store.thread(&graph).run(begin("in")).context(Arc::clone(&probe)).await.unwrap_err();
        let asked = store.thread(&graph).interrupts().await.unwrap();
        store.thread(&graph).resume(()).context(Arc::clone(&probe)).await.unwrap_err();
        assert_eq!(store.thread(&graph).interrupts().await.unwrap().interrupts(), asked.interrupts());
        let yes = asked.only::<Approve>().unwrap().answer(true);
        let outcome = store.thread(&graph).resume(yes).context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(log_of(outcome.state()), "in hasty buy true at attempt 1 last");
    })
    .await;
}
