//! Stored numbers that are too large for the type of a later program are refused when they are read.

use std::error::Error as _;

use serde::{Deserialize, Serialize};
use serde_json::json;
use superstep::interrupt::Question;
use superstep::reducers::{ReduceError, Reducer, Stamp, StoredAs};
use superstep::state::Update as _;
use superstep::{Context, END, Error, Graph, GraphState, START, StateGraph};

use super::stores::on_every_store;

/// A number that serde buffers before it reads it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Buffered<T> {
    Number(T),
    Text(String),
}

macro_rules! version {
    ($version:ident, $number:ty) => {
        mod $version {
            use super::*;

            #[derive(GraphState, Clone, Debug)]
            pub(super) struct Numbers {
                #[state(input)]
                pub(super) plain: $number,
                #[state(input)]
                pub(super) buffered: Buffered<$number>,
            }

            async fn done(_: &Numbers) {}

            pub(super) fn graph() -> Graph<Numbers> {
                StateGraph::<Numbers>::new().edge(START, done).edge(done, END).compile().unwrap()
            }
        }
    };
}

version!(before, f64);
version!(after, f32);

fn causes(error: &Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

#[tokio::test]
async fn stored_number_that_became_too_large_is_refused() {
    on_every_store(async |store| {
        let input = before::Numbers::input(1.0, Buffered::Number(1e300));
        store.thread(&before::graph()).run(input).await.unwrap();
        let error = store.thread(&after::graph()).state().await.unwrap_err();
        let text = causes(&error);
        assert!(text.contains("field `buffered`") && text.contains("too large for its type"), "{text}");

        let thread = before::graph().with_checkpointer(store.open()).thread("u");
        thread.run(before::Numbers::input(-1e300, Buffered::Number(1.0))).await.unwrap();
        let error = after::graph().with_checkpointer(store.open()).thread("u").state().await.unwrap_err();
        assert!(causes(&error).contains("field `plain`"), "{error:?}");
    })
    .await;
}

#[derive(Serialize, Deserialize)]
struct Weight;

impl Question for Weight {
    type Answer = f32;
}

#[derive(GraphState, Clone, Debug)]
struct Parcel {
    weight: Option<f32>,
}

async fn weigh(_: &Parcel, cx: &Context) -> ParcelUpdate {
    Parcel::update().weight(cx.interrupt(Weight).await)
}

#[tokio::test]
async fn answer_that_is_too_large_opens_the_question_again() {
    let graph = StateGraph::<Parcel>::new().edge(START, weigh).edge(weigh, END).compile().unwrap();
    on_every_store(async |store| {
        let thread = store.thread(&graph);
        thread.run(Parcel::input()).await.unwrap();
        let pause = thread.interrupts().await.unwrap();
        let error = thread.resume(pause.answer_json(json!(1e300)).unwrap()).await.unwrap_err();
        assert!(causes(&error).contains("too large for its type"), "{error:?}");

        let pause = thread.interrupts().await.unwrap();
        let outcome = thread.resume(pause.answer_json(json!(2.5)).unwrap()).await.unwrap();
        assert_eq!(outcome.state().weight, Some(2.5));
    })
    .await;
}

/// Appends one value at a time, and is stored as deltas.
enum Each {}

impl<T: Clone + Send + Sync + 'static> Reducer<Vec<T>> for Each {
    type Update = T;
    type Delta = T;
    const STORED: StoredAs = StoredAs::Appended;

    fn prepare(update: T, _: &Stamp<'_>) -> Result<T, ReduceError> {
        Ok(update)
    }

    fn fold(value: &mut Vec<T>, delta: T) -> Result<(), ReduceError> {
        value.push(delta);
        Ok(())
    }
}

macro_rules! measured {
    ($version:ident, $number:ty) => {
        mod $version {
            use super::*;

            #[derive(GraphState, Clone, Debug)]
            pub(super) struct Measured {
                #[state(reducer = Each)]
                pub(super) all: Vec<Buffered<$number>>,
            }

            async fn measure(_: &Measured) -> MeasuredUpdate {
                let large = Measured::update().all(Buffered::Number(<$number>::MAX));
                large.and(Measured::update().all(Buffered::Text("x".to_owned())))
            }

            pub(super) fn graph() -> Graph<Measured> {
                StateGraph::<Measured>::new().edge(START, measure).edge(measure, END).compile().unwrap()
            }
        }
    };
}

measured!(measured_before, f64);
measured!(measured_after, f32);

#[tokio::test]
async fn large_number_before_another_write_of_its_task_is_refused() {
    on_every_store(async |store| {
        store.thread(&measured_before::graph()).run(measured_before::Measured::input()).await.unwrap();
        let read = store.thread(&measured_after::graph()).state().await;
        let error = read.map(|snapshot| snapshot.map(|snapshot| snapshot.state)).unwrap_err();
        assert!(causes(&error).contains("too large for its type"), "{error:?}");
    })
    .await;
}
