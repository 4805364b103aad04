//! A run that is started again by its id gives what has become of it, whoever has gone on with it meanwhile.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use superstep::interrupt::Question;
use superstep::thread::as_node;
use superstep::{
    ContextWith, Durability, END, Error, ErrorKind, Graph, GraphState, NodeError, Outcome, Route, START,
    StateGraph,
};

use super::stores::{Place, on_every_store};
use super::story::{Story, StoryUpdate, World, begin, enter, say, story, tellers, told};

tellers! { one two three a b c }

fn row() -> Graph<Story, World> {
    story().edge(START, one).edge(one, two).edge(two, three).edge(three, END).compile().unwrap()
}

/// The same client once more, in another process.
async fn run(
    place: &Place,
    graph: &Graph<Story, World>,
    world: &Arc<World>,
) -> Result<Outcome<Story>, Error> {
    place.thread(graph).run(begin("in")).run_id("x").context(Arc::clone(world)).await
}

async fn resume(place: &Place, graph: &Graph<Story, World>, world: &Arc<World>) -> Outcome<Story> {
    place.thread(graph).resume(()).context(Arc::clone(world)).await.unwrap()
}

/// What is stored of the thread, as far as a run could have changed it.
async fn stored(place: &Place) -> String {
    let loaded = place.open().get("t", "", None).await.unwrap();
    format!("{:?} {:?}", loaded.fence, loaded.found.map(|found| found.records))
}

#[tokio::test]
async fn a_resumption_after_a_crash_belongs_to_the_run_that_it_goes_on_with() {
    for durability in [Durability::Sync, Durability::Async] {
        for steps in 0..4 {
            on_every_store(async |place| {
                let world = Arc::new(World::default());
                let run_x = place.thread(&row()).run(begin("in")).run_id("x").durability(durability);
                let mut stepper = run_x.context(Arc::clone(&world)).start().await.unwrap().unwrap();
                for _ in 0..steps {
                    stepper.step().await.unwrap();
                }
                drop(stepper);
                let resumed = resume(place, &row(), &world).await;
                assert_eq!(told(resumed.state()), "in one two three");
                world.ran();
                for _ in 0..2 {
                    let again = run(place, &row(), &world).await.unwrap();
                    assert_eq!(again.state(), resumed.state(), "{durability:?} after {steps}");
                }
                assert_eq!(world.ran(), "");
                let thread = place.thread(&row());
                let of_run = thread.history().run_id("x").await.unwrap().len();
                assert_eq!((of_run, thread.history().await.unwrap().len()), (5, 5));
            })
            .await;
        }
    }
}

#[tokio::test]
async fn what_follows_a_complete_run_does_not_belong_to_it() {
    on_every_store(async |place| {
        let world = Arc::new(World::default());
        run(place, &row(), &world).await.unwrap();
        let thread = place.thread(&row());
        // A node besides, an update from outside, a branch of it, new input.
        thread.resume(()).goto(as_node(three)).context(Arc::clone(&world)).await.unwrap();
        thread.update(say("by hand"), as_node(two)).context(Arc::clone(&world)).await.unwrap();
        resume(place, &row(), &world).await;
        let old = thread.history().run_id("x").await.unwrap()[2].id;
        thread.at(old).run_again().context(Arc::clone(&world)).await.unwrap();
        thread.run(begin("new")).context(Arc::clone(&world)).await.unwrap();
        assert_eq!(told(run(place, &row(), &world).await.unwrap().state()), "in one two three");
        assert_eq!(thread.history().run_id("x").await.unwrap().len(), 5);
    })
    .await;
}

#[derive(Serialize, Deserialize)]
struct Go(u32);

impl Question for Go {
    type Answer = bool;
}

async fn ask(_: &Story, cx: &ContextWith<World>) -> Result<StoryUpdate, NodeError> {
    enter(cx, "ask").await?;
    let first = cx.interrupt(Go(1)).await;
    let second = cx.interrupt(Go(2)).await;
    Ok(say(format!("{first} {second}")))
}

#[tokio::test]
async fn a_run_that_waits_for_answers_says_so_again_and_what_was_answered_is_a_part_of_it() {
    let graph = story().edge(START, (ask, a)).edge(ask, END).edge(a, END).compile().unwrap();
    on_every_store(async |place| {
        let world = Arc::new(World::default());
        let mut first = run(place, &graph, &world).await.unwrap();
        for answer in [true, false] {
            world.ran();
            let before = stored(place).await;
            for _ in 0..2 {
                let again = run(place, &graph, &world).await.unwrap();
                let (first, again) = (first.pause().unwrap(), again.pause().unwrap());
                assert_eq!(first.interrupts(), again.interrupts());
                assert_eq!(first.state(), again.state());
                assert!(again.before().is_empty() && again.after().is_empty());
            }
            assert_eq!(world.ran(), "", "nothing has run for it");
            assert_eq!(stored(place).await, before, "nothing was written for it");
            let question = first.pause().unwrap().only::<Go>().unwrap();
            let resumed = place.thread(&graph).resume(question.answer(answer));
            first = resumed.context(Arc::clone(&world)).await.unwrap();
        }
        assert_eq!(told(first.state()), "in true false a");
        assert_eq!(run(place, &graph, &world).await.unwrap().state(), first.state());
    })
    .await;
}

#[tokio::test]
async fn a_run_that_has_stopped_at_a_breakpoint_is_not_let_through_by_being_started_again() {
    let graph = story()
        .edge(START, one)
        .edge(one, two)
        .edge(two, three)
        .edge(three, END)
        .interrupt_before(two)
        .interrupt_after(two)
        .compile()
        .unwrap();
    on_every_store(async |place| {
        let world = Arc::new(World::default());
        for (before, after) in [("two", ""), ("", "two")] {
            for _ in 0..3 {
                let outcome = run(place, &graph, &world).await.unwrap();
                let pause = outcome.pause().unwrap();
                assert_eq!(
                    (pause.before().join(" "), pause.after().join(" ")),
                    (before.into(), after.into())
                );
            }
            resume(place, &graph, &world).await;
        }
        let outcome = run(place, &graph, &world).await.unwrap();
        assert!(outcome.pause().is_none());
        assert_eq!(told(outcome.state()), "in one two three");
        assert_eq!(world.ran(), "one two three");
    })
    .await;
}

#[tokio::test]
async fn a_run_that_ended_with_a_join_that_was_not_filled_ends_so_again() {
    #[derive(Route)]
    enum Way {
        #[to(a)]
        A,
        #[to(b)]
        B,
        #[to(END)]
        Out,
    }
    fn by_value(story: &Story) -> Way {
        match story.value {
            None => Way::A,
            Some(0) => Way::Out,
            Some(_) => Way::B,
        }
    }
    let graph = story().route(START, by_value).join((a, b), c).edge(c, END).compile().unwrap();
    on_every_store(async |place| {
        let world = Arc::new(World::default());
        let missing = async || {
            let error = run(place, &graph, &world).await.unwrap_err();
            assert_eq!(told(error.state::<Story>().unwrap()), "in a");
            let ErrorKind::JoinNotFilled { target, missing, .. } = error.kind() else { panic!("{error:?}") };
            format!("{target} {missing:?}")
        };
        let first = missing().await;
        assert_eq!(missing().await, first);
        // Also when others have followed it.
        let other = place.thread(&graph).run(begin("out").value(0));
        other.context(Arc::clone(&world)).await.unwrap();
        assert_eq!(missing().await, first);
        assert_eq!(world.ran(), "a");
    })
    .await;
}

#[tokio::test]
async fn a_run_that_has_come_to_its_limit_goes_on_each_time_that_it_is_started_again() {
    on_every_store(async |place| {
        let world = Arc::new(World::default());
        let some = || place.thread(&row()).run(begin("in")).run_id("x").recursion_limit(1);
        for _ in 0..2 {
            let error = some().context(Arc::clone(&world)).await.unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::RecursionLimit { .. }), "{error:?}");
        }
        for _ in 0..2 {
            let outcome = some().context(Arc::clone(&world)).await.unwrap();
            assert_eq!(told(outcome.state()), "in one two three");
        }
        assert_eq!(world.ran(), "one two three");
    })
    .await;
}

#[tokio::test]
async fn a_run_that_was_mended_or_ended_by_hand_has_come_to_that() {
    on_every_store(async |place| {
        let world = Arc::new(World::default());
        world.breaks(&["two"]);
        run(place, &row(), &world).await.unwrap_err();
        let thread = place.thread(&row());
        thread.update(say("two by hand"), as_node(two)).context(Arc::clone(&world)).await.unwrap();
        assert_eq!(told(resume(place, &row(), &world).await.state()), "in one two by hand three");
        let outcome = run(place, &row(), &world).await.unwrap();
        assert_eq!(told(outcome.state()), "in one two by hand three");
    })
    .await;
    on_every_store(async |place| {
        let world = Arc::new(World::default());
        world.breaks(&["two"]);
        run(place, &row(), &world).await.unwrap_err();
        let thread = place.thread(&row());
        thread.update(say("enough"), as_node(END)).context(Arc::clone(&world)).await.unwrap();
        let Outcome::Done(state) = run(place, &row(), &world).await.unwrap() else { panic!("it has ended") };
        assert_eq!(told(&state), "in one enough");
        assert_eq!(world.ran(), "one two");
    })
    .await;
}

#[tokio::test]
async fn a_run_that_was_given_up_for_another_says_so() {
    on_every_store(async |place| {
        let world = Arc::new(World::default());
        world.breaks(&["two"]);
        run(place, &row(), &world).await.unwrap_err();
        let at = place.thread(&row()).state().await.unwrap().unwrap().id;
        world.breaks(&[]);
        let other = place.thread(&row()).run(begin("other")).abandon_pending();
        other.context(Arc::clone(&world)).await.unwrap();
        for _ in 0..2 {
            let error = run(place, &row(), &world).await.unwrap_err();
            let ErrorKind::RunAbandoned { thread, run, checkpoint, .. } = error.kind() else {
                panic!("{error:?}")
            };
            assert_eq!((thread.as_str(), run.as_str(), *checkpoint), ("t", "x", at));
            assert!(error.to_string().contains("run `x` of thread `t` was abandoned"), "{error}");
        }
        let state = place.thread(&row()).state().await.unwrap().unwrap().state.unwrap();
        assert_eq!(told(&state), "in one other one two three");
    })
    .await;
}

#[derive(GraphState, Clone, Debug)]
struct Wired {
    done: bool,
    #[state(untracked, from_context = connected)]
    client: Option<String>,
}

/// What a service is reached by.
struct Wire(&'static str);

fn connected(wire: &Wire) -> Option<String> {
    Some(wire.0.to_owned())
}

async fn work(_: &Wired) -> WiredUpdate {
    Wired::update().done(true)
}

#[tokio::test]
async fn what_is_made_from_the_context_is_there_when_nothing_is_left_to_run() {
    let graph = StateGraph::<Wired>::with_context::<Wire>().edge(START, work).edge(work, END);
    let graph = graph.compile().unwrap();
    on_every_store(async |place| {
        let run = || place.thread(&graph).run(Wired::input()).run_id("x").context(Wire("wire"));
        for outcome in [
            run().await.unwrap(),
            run().await.unwrap(),
            place.thread(&graph).resume(()).context(Wire("wire")).await.unwrap(),
        ] {
            let state = outcome.into_state();
            assert_eq!((state.done, state.client.as_deref()), (true, Some("wire")));
        }
    })
    .await;
}
