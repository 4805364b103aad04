//! A graph with every kind of user code, over values that may panic.

use std::collections::HashSet;
use std::sync::Mutex;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use superstep::cache::{CachePolicy, MemoryCache};
use superstep::interrupt::Question;
use superstep::policy::{Policy, Retry};
use superstep::reducers::ReduceError;
use superstep::{
    ContextWith, END, Graph, GraphState, NodeError, NodeFailure, Result, Route, START, StateGraph,
};

use super::faults::{Op, Trap, TrapError, hit};

/// The context of a run.
#[derive(Debug, Default)]
pub(crate) struct World {
    pub(crate) id: u64,
    /// The durable steps that ran.
    pub(crate) steps: Mutex<Vec<String>>,
}

#[derive(GraphState, Clone)]
#[state(invariant = holds)]
pub(crate) struct Trip {
    #[state(input, validate(custom(is_fine)))]
    pub(crate) one: Trap,
    #[state(input, reducer = append)]
    pub(crate) log: Vec<Trap>,
    #[state(reducer = longer, takes = Trap)]
    pub(crate) longest: Trap,
    #[state(reducer = union)]
    pub(crate) seen: HashSet<Trap>,
    #[state(ephemeral)]
    pub(crate) flash: Option<Trap>,
    #[state(exclude)]
    pub(crate) secret: Option<Trap>,
    #[state(untracked, from_context = connect)]
    pub(crate) link: Option<Trap>,
}

fn holds(trip: &Trip) -> Result<(), String> {
    hit(trip.one.id, Op::Function);
    Ok(())
}

fn is_fine(value: &Trap) -> Result<(), String> {
    hit(value.id, Op::Function);
    Ok(())
}

fn longer(longest: &mut Trap, other: Trap) -> Result<(), ReduceError> {
    hit(other.id, Op::Function);
    if other.text.len() > longest.text.len() {
        *longest = other;
    }
    Ok(())
}

fn connect(cx: &World) -> Option<Trap> {
    hit(cx.id, Op::Function);
    Some(Trap::new(cx.id, "link"))
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Sure(pub(crate) Trap);

impl Question for Sure {
    type Answer = Trap;
}

#[derive(Route)]
enum Hand {
    #[to(work)]
    Work(Trap),
}

#[derive(Route)]
enum Way {
    #[to(END)]
    Out,
}

type Cx = ContextWith<World>;

fn say(trip: &Trip, text: &str) -> TripUpdate {
    Trip::update().log([Trap::new(trip.one.id, text)])
}

async fn prepare(trip: &Trip) -> (TripUpdate, Vec<Hand>) {
    let trap = |text: &str| Trap::new(trip.one.id, text);
    let update = say(trip, "prepare").one(trap("new")).flash(trap("flash")).secret(trap("secret"));
    (update, ["a", "bb", "c"].map(|text| Hand::Work(trap(text))).into())
}

async fn work(trip: &Trip, packet: &Trap) -> TripUpdate {
    say(trip, &packet.text)
        .longest(Trap::new(trip.one.id, packet.text.clone()))
        .seen([Trap::new(trip.one.id, "seen"), Trap::new(trip.one.id, packet.text.clone())])
}

async fn spread(trip: &Trip, cx: &Cx) -> TripUpdate {
    cx.emit(Trap::new(trip.one.id, "event")).await;
    say(trip, "spread")
}

async fn ask(trip: &Trip, cx: &Cx) -> TripUpdate {
    let answer = cx.interrupt(Sure(Trap::new(trip.one.id, "sure?"))).await;
    say(trip, &answer.text)
}

async fn retried(trip: &Trip, cx: &Cx) -> Result<TripUpdate> {
    if cx.attempt() < 2 {
        return Err(TrapError(trip.one.id).into());
    }
    Ok(say(trip, "retried"))
}

async fn handled(trip: &Trip) -> Result<TripUpdate> {
    tokio::task::yield_now().await;
    Err(TrapError(trip.one.id).into())
}

async fn rescue(trip: &Trip, _: &NodeFailure) -> TripUpdate {
    hit(trip.one.id, Op::Function);
    say(trip, "rescued")
}

async fn stepper(trip: &Trip, cx: &Cx) -> Result<TripUpdate> {
    let pay = async {
        cx.context().steps.lock().unwrap().push("paid".to_owned());
        Ok::<_, NodeError>(Trap::new(trip.one.id, "paid"))
    };
    let paid = cx.step("pay", pay).await?;
    Ok(say(trip, &paid.text))
}

async fn cached(trip: &Trip) -> TripUpdate {
    say(trip, "cached")
}

async fn inside(trip: &Trip) -> TripUpdate {
    say(trip, "inside").longest(Trap::new(trip.one.id, "the longest of all"))
}

async fn inside_fails(trip: &Trip, cx: &Cx) -> Result<TripUpdate> {
    match cx.attempt() {
        1 => Err(TrapError(trip.one.id).into()),
        _ => Ok(say(trip, "inside retried")),
    }
}

pub(crate) async fn last(trip: &Trip) -> TripUpdate {
    say(trip, "last")
}

fn decide(trip: &Trip) -> Way {
    hit(trip.one.id, Op::Function);
    Way::Out
}

fn retry() -> Policy {
    let fits = |error: &TrapError| {
        hit(error.0, Op::Function);
        true
    };
    Policy::new().retry(Retry::attempts(3).backoff(Duration::from_millis(1)).when::<TrapError>(fits))
}

fn draft() -> StateGraph<Trip, World> {
    StateGraph::<Trip>::with_context::<World>()
}

/// The whole trip, with a subgraph on the state and one that is mapped.
pub(crate) fn trip() -> Graph<Trip, World> {
    let inner = draft()
        .edge(START, inside)
        .edge(inside, inside_fails)
        .edge(inside_fails, END)
        .policy(inside_fails, retry())
        .compile()
        .unwrap();
    let shared = inner.as_node("shared");
    let mapped = inner.as_node("mapped").mapped(
        |trip: &Trip| {
            hit(trip.one.id, Op::Function);
            Trip::input(trip.one.clone())
        },
        |done| {
            hit(done.state.one.id, Op::Function);
            Trip::update().log(done.state.log)
        },
    );
    let key = CachePolicy::by(|trip: &Trip| {
        hit(trip.one.id, Op::Function);
        trip.one.clone()
    });
    draft()
        .edge(START, prepare)
        .edge(work, spread)
        .edge(spread, (ask, retried, handled, stepper, cached, &shared, &mapped))
        .join((ask, retried, handled, stepper, cached, &shared, &mapped), last)
        .route(last, decide)
        .policy(retried, retry())
        .on_error(handled, rescue)
        .cache(cached, key)
        .compile()
        .unwrap()
        .with_cache(MemoryCache::new())
}

/// Supersteps of a single task each.
pub(crate) fn chain() -> Graph<Trip, World> {
    draft()
        .edge(START, spread)
        .edge(spread, retried)
        .edge(retried, stepper)
        .edge(stepper, ask)
        .edge(ask, last)
        .route(last, decide)
        .policy(retried, retry())
        .compile()
        .unwrap()
}

/// Returns the log, read without calling code that may panic.
pub(crate) fn log_of(trip: &Trip) -> String {
    trip.log.iter().map(|trap| trap.text.as_str()).collect::<Vec<_>>().join(" ")
}
