//! Every prefix of the writes of a run with interrupts and a failure reaches the same end once all are answered.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::{Deserialize, Serialize};
use superstep::interrupt::Question;
use superstep::thread::Thread;
use superstep::{
    ContextWith, Durability, END, ErrorKind, Graph, GraphState, NodeError, Outcome, START, StateGraph,
};

use crate::job::has_no_thread;
use crate::prefixes::{each_prefix, recording_store};

#[derive(GraphState, Clone, Debug, PartialEq)]
struct Trip {
    #[state(reducer = append)]
    log: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct Book(String);

impl Question for Book {
    type Answer = bool;
}

/// `true` inside if `leave` fails.
#[derive(Default)]
struct Weather(AtomicBool);

async fn plan(_: &Trip) -> TripUpdate {
    Trip::update().log(["plan".to_owned()])
}

async fn flight(_: &Trip, cx: &ContextWith<Weather>) -> TripUpdate {
    let first = cx.interrupt(Book("there".to_owned())).await;
    let second = cx.interrupt(Book("back".to_owned())).await;
    Trip::update().log([format!("flight {first} {second}")])
}

async fn hotel(_: &Trip, cx: &ContextWith<Weather>) -> TripUpdate {
    let answer = cx.interrupt(Book("hotel".to_owned())).await;
    Trip::update().log([format!("hotel {answer}")])
}

async fn train(_: &Trip) -> TripUpdate {
    Trip::update().log(["train".to_owned()])
}

async fn depart(_: &Trip) -> TripUpdate {
    Trip::update().log(["depart".to_owned()])
}

async fn leave(_: &Trip, cx: &ContextWith<Weather>) -> superstep::Result<TripUpdate> {
    if cx.context().0.load(Ordering::SeqCst) {
        return Err(NodeError::msg("storm"));
    }
    Ok(Trip::update().log(["leave".to_owned()]))
}

async fn pack(_: &Trip) -> TripUpdate {
    Trip::update().log(["pack".to_owned()])
}

fn trip() -> Graph<Trip, Weather> {
    StateGraph::<Trip>::with_context::<Weather>()
        .edge(START, plan)
        .edge(plan, (flight, hotel, train))
        .join((flight, hotel, train), depart)
        .edge(depart, (leave, pack))
        .edge(leave, END)
        .edge(pack, END)
        .compile()
        .unwrap()
}

const TRIP: [&str; 7] = ["plan", "flight true true", "hotel true", "train", "depart", "leave", "pack"];

/// Answers interrupts until the run ends.
async fn answer_all(thread: &Thread<Trip, Weather>, weather: &Arc<Weather>) -> Trip {
    for _ in 0..20 {
        let questions = thread.interrupts().await.unwrap();
        let answers =
            questions.all::<Book>().unwrap().iter().map(|question| question.answer(true)).collect::<Vec<_>>();
        match thread.resume(answers).context(Arc::clone(weather)).await {
            Ok(Outcome::Done(state)) => return state,
            Ok(Outcome::Interrupted(_)) => {}
            Err(error) if has_no_thread(&error) => {
                thread.run(Trip::input()).context(Arc::clone(weather)).await.unwrap();
            }
            Err(error) => panic!("{error:?}"),
        }
    }
    panic!("it does not come to an end: {:?}", thread.state().await)
}

#[tokio::test]
async fn interrupts_and_a_failure_finish_from_every_prefix() {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        let (store, batches) = recording_store();
        let thread = trip().with_checkpointer(store).thread("t");
        let weather = Arc::new(Weather::default());
        weather.0.store(true, Ordering::SeqCst);
        thread.run(Trip::input()).durability(durability).context(Arc::clone(&weather)).await.unwrap();
        let error = loop {
            let questions = thread.interrupts().await.unwrap();
            let answers = questions
                .all::<Book>()
                .unwrap()
                .iter()
                .map(|question| question.answer(true))
                .collect::<Vec<_>>();
            match thread.resume(answers).durability(durability).context(Arc::clone(&weather)).await {
                Ok(outcome) => assert!(outcome.pause().is_some()),
                Err(error) => break error,
            }
        };
        assert!(matches!(error.kind(), ErrorKind::Node { .. }), "{error:?}");
        let calm = Arc::new(Weather::default());
        let state =
            thread.resume(()).durability(durability).context(Arc::clone(&calm)).await.unwrap().into_state();
        assert_eq!(state.log, TRIP);
        let batches = batches.lock().unwrap().clone();
        for (count, reopened) in each_prefix(&trip(), &batches).await.into_iter().enumerate() {
            let state = answer_all(&reopened.thread("t"), &calm).await;
            assert_eq!(state.log, TRIP, "after {count} of {} batches, {durability:?}", batches.len());
        }
    }
}
