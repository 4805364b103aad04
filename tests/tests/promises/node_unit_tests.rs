//! Unit tests of nodes without a graph.

use superstep::{Context, ContextWith, ErrorKind, GraphState, NodeError, Overwrite, Result};

#[derive(GraphState, Clone, Debug)]
#[state(invariant = in_order)]
struct Trip {
    #[state(input)]
    from: u32,
    #[state(input, validate(range(max = 100)))]
    to: u32,
    #[state(reducer = append)]
    stops: Vec<u32>,
}

fn in_order(trip: &Trip) -> Result<(), &'static str> {
    if trip.from <= trip.to { Ok(()) } else { Err("it ends before it begins") }
}

async fn stop(trip: &Trip, by: &ContextWith<u32>) -> TripUpdate {
    Trip::update().stops([trip.from + by.context()])
}

async fn named(_: &Trip, cx: &Context) -> String {
    format!("{} in {} of {}", cx.node(), cx.superstep(), cx.superstep() + cx.remaining_steps())
}

#[tokio::test]
async fn update_is_applied_as_in_a_run() {
    let trip = Trip::started(Trip::input(1_u32, 9_u32)).unwrap();
    let update = stop(&trip, &ContextWith::detached("stop", 2)).await;
    let trip = trip.updated(update.clone()).unwrap().updated(update).unwrap();
    assert_eq!(trip.stops, [3, 3]);
    assert!(trip.updated(Trip::update().stops(Overwrite(vec![]))).unwrap().stops.is_empty());
}

#[tokio::test]
async fn detached_context_is_in_superstep_one() {
    let trip = Trip::started(Trip::input(1_u32, 9_u32)).unwrap();
    assert_eq!(named(&trip, &Context::detached("alone")).await, "alone in 1 of 1");
}

#[test]
fn broken_rule_applies_nothing() {
    let error = Trip::started(Trip::input(1_u32, 101_u32)).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Validation { .. }), "{error}");
    let trip = Trip::started(Trip::input(1_u32, 9_u32)).unwrap();
    let error = trip.updated(Trip::update().stops([2]).from(10_u32)).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Validation { .. }), "{error}");
    assert_eq!(error.state::<Trip>().map(|trip| (trip.from, trip.stops.len())), Some((1, 0)));
}

#[test]
fn boxed_error_keeps_its_cause() {
    let boxed: Box<dyn std::error::Error + Send + Sync> = Box::new(std::fmt::Error);
    assert!(NodeError::from_boxed(boxed).downcast_ref::<std::fmt::Error>().is_some());
    assert_eq!(NodeError::from_boxed("words").to_string(), "words");
}
