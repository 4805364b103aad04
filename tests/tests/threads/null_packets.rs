//! A packet whose JSON is null is stored and read like any other.

use serde::{Deserialize, Serialize};
use superstep::interrupt::Question;
use superstep::{Context, END, Graph, GraphState, Outcome, Route, START, StateGraph};

use super::stores::on_every_store;

#[derive(GraphState, Clone)]
struct Parcels {
    #[state(reducer = append)]
    opened: Vec<String>,
}

/// A unit struct, whose JSON is null.
#[derive(Serialize, Deserialize)]
struct Nothing;

#[derive(Serialize, Deserialize)]
struct Go;

impl Question for Go {
    type Answer = bool;
}

#[derive(Route)]
enum Send {
    #[to(open)]
    Open(Option<u32>),
    #[to(shake)]
    Shake(Nothing),
}

async fn send(_: &Parcels) -> Vec<Send> {
    vec![Send::Open(None), Send::Shake(Nothing), Send::Open(Some(1))]
}

async fn beside(_: &Parcels, cx: &Context) -> ParcelsUpdate {
    let go = cx.interrupt(Go).await;
    Parcels::update().opened([format!("beside {go}")])
}

async fn open(parcel: &Option<u32>, cx: &Context) -> ParcelsUpdate {
    let go = cx.interrupt(Go).await;
    Parcels::update().opened([format!("{parcel:?} {go}")])
}

async fn shake(_: &Nothing, cx: &Context) -> ParcelsUpdate {
    let go = cx.interrupt(Go).await;
    Parcels::update().opened([format!("nothing {go}")])
}

fn graph() -> Graph<Parcels> {
    let graph = StateGraph::<Parcels>::new().edge(START, (send, beside)).edge(beside, END);
    graph.edge(open, END).edge(shake, END).node(send).defer(shake).compile().unwrap()
}

#[tokio::test]
async fn null_packet_waits_for_an_answer() {
    on_every_store(async |store| {
        // First the route of `send` is stored while its sibling asks, then the packets while their nodes ask.
        let mut outcome = store.thread(&graph()).run(Parcels::input()).await.unwrap();
        while let Outcome::Interrupted(_) = outcome {
            let thread = store.thread(&graph());
            let pending = thread.interrupts().await.unwrap();
            let answers: Vec<_> =
                pending.all::<Go>().unwrap().into_iter().map(|go| go.answer(true)).collect();
            outcome = thread.resume(answers).await.unwrap();
        }
        assert_eq!(outcome.state().opened, ["beside true", "None true", "Some(1) true", "nothing true"]);
    })
    .await;
}
