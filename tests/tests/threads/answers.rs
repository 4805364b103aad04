//! Answers go to the question that they name, from whatever process they come, and are given once.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::json;
use superstep::interrupt::{Answer, Question};
use superstep::{ContextWith, END, Error, ErrorKind, Graph, NodeError, Outcome, Route, START};

use super::stores::on_every_store;
use super::story::{Story, StoryUpdate, World, begin, enter, say, story, tellers, told};

tellers! { sibling last }

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

async fn buy(_: &Story, cx: &ContextWith<World>) -> Result<StoryUpdate, NodeError> {
    let yes = cx.interrupt(approve("buy")).await;
    enter(cx, "buy").await?;
    Ok(say(format!("buy {yes} at attempt {}", cx.attempt())))
}

async fn who(_: &Story, cx: &ContextWith<World>) -> Result<StoryUpdate, NodeError> {
    let name = cx.interrupt(Name).await;
    enter(cx, "who").await?;
    Ok(say(format!("who {name}")))
}

fn shop() -> Graph<Story, World> {
    story()
        .edge(START, (buy, who, sibling))
        .join((buy, who, sibling), last)
        .edge(last, END)
        .compile()
        .unwrap()
}

/// The question that cannot be answered any more, or never could.
fn not_open(result: Result<Outcome<Story>, Error>) -> String {
    let error = result.unwrap_err();
    let ErrorKind::InterruptNotOpen { id, thread, .. } = error.kind() else { panic!("{error}") };
    assert_eq!(thread, "t");
    id.clone()
}

#[tokio::test]
async fn two_questions_and_a_finished_sibling_are_answered_one_by_one_by_different_processes() {
    on_every_store(async |place| {
        let world = Arc::new(World::default());
        let outcome = place.thread(&shop()).run(begin("in")).context(Arc::clone(&world)).await.unwrap();
        let asked: Vec<_> = outcome.pause().unwrap().interrupts().iter().map(|open| &*open.node).collect();
        assert_eq!(asked, ["buy", "who"]);

        let thread = place.thread(&shop());
        let name = thread.interrupts().await.unwrap().only::<Name>().unwrap();
        let outcome = thread.resume(name.answer("Ada".to_owned())).context(Arc::clone(&world)).await.unwrap();
        let asked: Vec<_> = outcome.pause().unwrap().interrupts().iter().map(|open| &*open.node).collect();
        assert_eq!(asked, ["buy"]);
        assert_eq!(told(outcome.state()), "in", "the superstep is not applied yet");

        let thread = place.thread(&shop());
        let yes = thread.interrupts().await.unwrap().only::<Approve>().unwrap();
        let outcome = thread.resume(yes.answer(true)).context(Arc::clone(&world)).await.unwrap();
        assert_eq!(told(outcome.state()), "in buy true at attempt 1 who Ada sibling last");
        assert_eq!(world.ran(), "sibling who buy last");
    })
    .await;
}

#[tokio::test]
async fn both_questions_are_answered_together() {
    on_every_store(async |place| {
        let world = Arc::new(World::default());
        place.thread(&shop()).run(begin("in")).context(Arc::clone(&world)).await.unwrap();
        let thread = place.thread(&shop());
        let pending = thread.interrupts().await.unwrap();
        let (yes, name) = (pending.only::<Approve>().unwrap(), pending.only::<Name>().unwrap());
        let answers = [name.answer("Ada".to_owned()), yes.answer(false)];
        let outcome = thread.resume(answers).context(Arc::clone(&world)).await.unwrap();
        assert_eq!(told(outcome.state()), "in buy false at attempt 1 who Ada sibling last");
        assert_eq!(world.ran(), "sibling buy who last");
    })
    .await;
}

#[tokio::test]
async fn a_second_click_and_an_answer_to_no_question_are_refused_and_change_nothing() {
    on_every_store(async |place| {
        let world = Arc::new(World::default());
        place.thread(&shop()).run(begin("in")).context(Arc::clone(&world)).await.unwrap();
        let thread = place.thread(&shop());
        let pending = thread.interrupts().await.unwrap();
        let (yes, name) = (pending.only::<Approve>().unwrap(), pending.only::<Name>().unwrap());

        // One answer among good ones that is none: none of them is taken.
        let answers = [yes.answer(true), Answer::json("1:7/Approve/0", json!(true))];
        assert_eq!(not_open(thread.resume(answers).context(Arc::clone(&world)).await), "1:7/Approve/0");
        let twice = [yes.answer(true), yes.answer(false)];
        assert_eq!(not_open(thread.resume(twice).context(Arc::clone(&world)).await), yes.id());
        assert_eq!(thread.interrupts().await.unwrap().interrupts(), pending.interrupts());

        thread.resume(yes.answer(true)).context(Arc::clone(&world)).await.unwrap();
        let click = thread.resume(yes.answer(false)).context(Arc::clone(&world)).await;
        assert_eq!(not_open(click), yes.id());
        let outcome = thread.resume(name.answer("Ada".to_owned())).context(Arc::clone(&world)).await.unwrap();
        assert_eq!(told(outcome.state()), "in buy true at attempt 1 who Ada sibling last");

        let history = thread.history().await.unwrap().len();
        assert_eq!(not_open(thread.resume(yes.answer(false)).context(world).await), yes.id());
        assert_eq!(thread.history().await.unwrap().len(), history);
    })
    .await;
}

#[tokio::test]
async fn an_answer_never_goes_to_the_next_question_of_the_same_node() {
    #[derive(Route)]
    enum Loop {
        #[to(haggle)]
        Again,
        #[to(END)]
        Out,
    }
    async fn haggle(_: &Story, cx: &ContextWith<World>) -> (StoryUpdate, Loop) {
        let yes = cx.interrupt(approve("haggle")).await;
        (say(yes.to_string()), if yes { Loop::Out } else { Loop::Again })
    }
    let graph = story().edge(START, haggle).compile().unwrap();
    on_every_store(async |place| {
        let thread = place.thread(&graph);
        thread.run(begin("in")).context(World::default()).await.unwrap();
        let first = thread.interrupts().await.unwrap().only::<Approve>().unwrap();
        thread.resume(first.answer(false)).context(World::default()).await.unwrap();
        // The same question, asked anew.
        let second = thread.interrupts().await.unwrap().only::<Approve>().unwrap();
        assert_ne!(first.id(), second.id());
        let click = thread.resume(first.answer(true)).context(World::default()).await;
        assert_eq!(not_open(click), first.id());
        let outcome = thread.resume(second.answer(true)).context(World::default()).await.unwrap();
        assert_eq!(told(outcome.state()), "in false true");
    })
    .await;
}

#[tokio::test]
async fn questions_are_found_by_their_keys_in_another_process() {
    async fn vote(_: &Story, cx: &ContextWith<World>) -> StoryUpdate {
        let (ann, bob) = tokio::join!(
            cx.interrupt(approve("of bob")).keyed("ann"),
            cx.interrupt(approve("of ann")).keyed("bob")
        );
        say(format!("{ann} {bob}"))
    }
    let graph = story().edge(START, vote).edge(vote, END).compile().unwrap();
    on_every_store(async |place| {
        place.thread(&graph).run(begin("in")).context(World::default()).await.unwrap();
        let pending = place.thread(&graph).interrupts().await.unwrap();
        assert!(pending.only::<Approve>().is_err());
        assert_eq!(pending.all::<Approve>().unwrap().len(), 2);
        let bob = pending.by_key::<Approve>("bob").unwrap();
        assert_eq!(bob.what, "of ann");
        place.thread(&graph).resume(bob.answer(false)).context(World::default()).await.unwrap();
        let ann = place.thread(&graph).interrupts().await.unwrap().only::<Approve>().unwrap();
        let outcome = place.thread(&graph).resume(ann.answer(true)).context(World::default()).await.unwrap();
        assert_eq!(told(outcome.state()), "in true false");
    })
    .await;
}

#[tokio::test]
async fn a_question_that_has_changed_between_processes_is_asked_again() {
    async fn offer(_: &Story, cx: &ContextWith<World>) -> Result<StoryUpdate, NodeError> {
        // What it asks depends on what is outside: a price, say.
        let price = if enter(cx, "sold out").await.is_ok() { "1" } else { "2" };
        let yes = cx.interrupt(approve(price)).await;
        Ok(say(format!("{yes} for {price}")))
    }
    let graph = story().edge(START, offer).edge(offer, END).compile().unwrap();
    on_every_store(async |place| {
        let world = Arc::new(World::default());
        place.thread(&graph).run(begin("in")).context(Arc::clone(&world)).await.unwrap();
        let cheap = place.thread(&graph).interrupts().await.unwrap().only::<Approve>().unwrap();
        world.breaks(&["sold out"]);
        let outcome = place.thread(&graph).resume(cheap.answer(true)).context(Arc::clone(&world)).await;
        assert!(outcome.unwrap().pause().is_some());
        let dear = place.thread(&graph).interrupts().await.unwrap().only::<Approve>().unwrap();
        assert_eq!((cheap.what.as_str(), dear.what.as_str()), ("1", "2"));
        let outcome = place.thread(&graph).resume(dear.answer(false)).context(Arc::clone(&world)).await;
        assert_eq!(told(outcome.unwrap().state()), "in false for 2");
    })
    .await;
}

#[tokio::test]
async fn a_task_that_fails_behind_its_answer_does_not_ask_again() {
    on_every_store(async |place| {
        let world = Arc::new(World::default());
        place.thread(&shop()).run(begin("in")).context(Arc::clone(&world)).await.unwrap();
        world.breaks(&["buy"]);
        let yes = place.thread(&shop()).interrupts().await.unwrap().only::<Approve>().unwrap();
        place.thread(&shop()).resume(yes.answer(true)).context(Arc::clone(&world)).await.unwrap_err();
        let pending = place.thread(&shop()).interrupts().await.unwrap();
        assert_eq!(pending.interrupts().len(), 1, "the sibling's question is still open");
        world.breaks(&[]);
        let name = pending.only::<Name>().unwrap();
        let resumed = place.thread(&shop()).resume(name.answer("Ada".to_owned()));
        let outcome = resumed.context(Arc::clone(&world)).await.unwrap();
        assert_eq!(told(outcome.state()), "in buy true at attempt 2 who Ada sibling last");
    })
    .await;
}

#[tokio::test]
async fn a_question_stays_open_where_a_sibling_fails_before_it_is_asked_again() {
    async fn hasty(_: &Story, cx: &ContextWith<World>) -> Result<StoryUpdate, NodeError> {
        match cx.attempt() {
            // Its sibling comes to its question first.
            1 => enter(cx, "hasty").await.map(|()| say("hasty")),
            2 => Err(NodeError::msg("at once")),
            _ => Ok(say("hasty")),
        }
    }
    let graph = story().edge(START, (hasty, buy)).join((hasty, buy), last).edge(last, END).compile().unwrap();
    on_every_store(async |place| {
        let world = Arc::new(World::default());
        world.breaks(&["hasty"]);
        place.thread(&graph).run(begin("in")).context(Arc::clone(&world)).await.unwrap_err();
        let asked = place.thread(&graph).interrupts().await.unwrap();
        place.thread(&graph).resume(()).context(Arc::clone(&world)).await.unwrap_err();
        assert_eq!(place.thread(&graph).interrupts().await.unwrap().interrupts(), asked.interrupts());
        let yes = asked.only::<Approve>().unwrap().answer(true);
        let outcome = place.thread(&graph).resume(yes).context(Arc::clone(&world)).await.unwrap();
        assert_eq!(told(outcome.state()), "in hasty buy true at attempt 1 last");
    })
    .await;
}
