//! What `cx.step` has come to is kept with its task, until the superstep is applied.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use superstep::interrupt::Question;
use superstep::{ContextWith, END, Graph, NodeError, Outcome, START};

use super::stores::on_every_store;
use super::story::{Story, StoryUpdate, World, begin, enter, say, story, tellers, told};

tellers! { after }

#[derive(Serialize, Deserialize)]
struct Go;

impl Question for Go {
    type Answer = bool;
}

async fn charge(cx: &ContextWith<World>, card: &str) -> Result<String, NodeError> {
    enter(cx, "charge").await?;
    Ok(format!("receipt of {card}"))
}

async fn pay(_: &Story, cx: &ContextWith<World>) -> Result<StoryUpdate, NodeError> {
    let receipt = cx.step("charge", charge(cx, "visa")).await?;
    let yes = cx.interrupt(Go).await;
    let ticket: u32 = cx
        .step("ticket", async {
            enter(cx, "ticket").await?;
            Ok::<_, NodeError>(7)
        })
        .await?;
    enter(cx, "pay").await?;
    Ok(say(format!("{receipt}, {yes}, {ticket}")))
}

fn shop() -> Graph<Story, World> {
    story().edge(START, pay).edge(pay, after).edge(after, END).compile().unwrap()
}

#[tokio::test]
async fn a_step_that_has_finished_never_runs_again_behind_a_question_or_a_failure() {
    on_every_store(async |place| {
        let world = Arc::new(World::default());
        let resume = async |broken: &[&'static str], answer: bool| {
            world.breaks(broken);
            let thread = place.thread(&shop());
            let go = thread.interrupts().await.unwrap().only::<Go>();
            let answers = go.ok().filter(|_| answer).map(|go| go.answer(true));
            thread.resume(Vec::from_iter(answers)).context(Arc::clone(&world)).await
        };
        world.breaks(&["charge"]);
        place.thread(&shop()).run(begin("in")).context(Arc::clone(&world)).await.unwrap_err();
        assert_eq!(world.ran(), "charge");
        // A step that has failed runs again; one that has not does not.
        assert!(matches!(resume(&[], false).await, Ok(Outcome::Interrupted(_))));
        assert_eq!(world.ran(), "charge");
        resume(&["ticket"], true).await.unwrap_err();
        assert_eq!(world.ran(), "ticket");
        resume(&["pay"], false).await.unwrap_err();
        assert_eq!(world.ran(), "ticket pay");
        let outcome = resume(&[], false).await.unwrap();
        assert_eq!(world.ran(), "pay after");
        assert_eq!(told(outcome.state()), "in receipt of visa, true, 7 after");
    })
    .await;
}

#[tokio::test]
async fn a_step_of_the_same_key_in_another_superstep_is_another_step() {
    on_every_store(async |place| {
        let world = Arc::new(World::default());
        for _ in 0..2 {
            let thread = place.thread(&shop());
            thread.run(begin("in")).context(Arc::clone(&world)).await.unwrap();
            let go = thread.interrupts().await.unwrap().only::<Go>().unwrap();
            thread.resume(go.answer(true)).context(Arc::clone(&world)).await.unwrap();
            assert_eq!(world.ran(), "charge ticket pay after");
        }
    })
    .await;
}
