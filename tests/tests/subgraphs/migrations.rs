//! Subgraph calls that an older program stored, after their states were migrated.

use serde::{Deserialize, Serialize};
use superstep::interrupt::Question;
use superstep::{Context, END, Graph, GraphState, START, StateGraph};

use super::stores::on_every_store;

#[derive(Serialize, Deserialize)]
struct Sure;

impl Question for Sure {
    type Answer = bool;
}

/// The graphs of a program: `Search` as a subgraph with its own state, and subgraphs on the parent's `Order`.
macro_rules! program {
    ($price:expr) => {
        use super::*;
        use superstep::Route;
        use superstep::subgraph::ParentCommand;

        #[derive(Route)]
        enum Out {
            #[to("helper")]
            Help,
        }

        async fn look(_: &Search) -> SearchUpdate {
            Search::update().found([$price(1)])
        }

        async fn ask(_: &Search, cx: &Context) -> SearchUpdate {
            let sure = cx.interrupt(Sure).await;
            Search::update().found([$price(if sure { 2 } else { 3 })])
        }

        async fn price(_: &Order) -> OrderUpdate {
            Order::update().prices([$price(4)])
        }

        async fn sure(_: &Order, cx: &Context) -> OrderUpdate {
            Order::update().prices([$price(if cx.interrupt(Sure).await { 5 } else { 6 })])
        }

        async fn says(_: &Order) -> ParentCommand<Order, Out> {
            ParentCommand::update(Order::update().prices([$price(7)])).goto(Out::Help)
        }

        async fn helper(_: &Order) -> OrderUpdate {
            Order::update().prices([$price(8)])
        }

        pub(super) fn mapped() -> Graph<Order> {
            let search = StateGraph::<Search>::new().edge(START, look).edge(look, ask).edge(ask, END);
            let search = search.compile().unwrap().as_node("search");
            let search = search.mapped(
                |_: &Order| Search::input(),
                |done| {
                    let found = done.appended(|search: &Search| &search.found).to_vec();
                    Order::update().prices(found)
                },
            );
            let search = search.per_thread();
            StateGraph::<Order>::new().edge(START, &search).edge(&search, END).compile().unwrap()
        }

        pub(super) fn shared() -> Graph<Order> {
            let inner = StateGraph::<Order>::new().edge(START, price).edge(price, sure).edge(sure, END);
            let inner = inner.compile().unwrap().as_node("inner");
            StateGraph::<Order>::new().edge(START, &inner).edge(&inner, END).compile().unwrap()
        }

        pub(super) fn commands() -> Graph<Order> {
            let inner = StateGraph::<Order>::new().edge(START, (says, sure)).edge(says, END).edge(sure, END);
            let inner = inner.compile().unwrap().as_node("inner");
            let graph = StateGraph::<Order>::new().edge(START, &inner).edge(&inner, END).edge(helper, END);
            graph.compile().unwrap()
        }
    };
}

mod before {
    #[derive(GraphState, Clone, Debug)]
    pub(super) struct Order {
        #[state(reducer = append)]
        pub(super) prices: Vec<u32>,
    }

    #[derive(GraphState, Clone, Debug)]
    pub(super) struct Search {
        #[state(reducer = append)]
        found: Vec<u32>,
    }

    program!(|cents: u32| cents);
}

mod after {
    use serde_json::{Value, json};
    use superstep::state::{MigrationError, Stored};

    #[derive(GraphState, Clone, Debug)]
    #[state(version = 1, migrate = order)]
    pub(super) struct Order {
        #[state(reducer = append)]
        pub(super) prices: Vec<String>,
    }

    #[derive(GraphState, Clone, Debug)]
    #[state(version = 1, migrate = search)]
    pub(super) struct Search {
        #[state(reducer = append)]
        found: Vec<String>,
    }

    fn to_strings(value: Value) -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
        Ok(value.as_array().ok_or("no list")?.iter().map(|cents| json!(format!("old {cents}"))).collect())
    }

    fn order(_: u32, stored: &mut Stored) -> Result<(), MigrationError> {
        stored.change("prices", to_strings)
    }

    fn search(_: u32, stored: &mut Stored) -> Result<(), MigrationError> {
        stored.change("found", to_strings)
    }

    program!(|cents: u32| format!("new {cents}"));
}

async fn assert_continues(older: Graph<before::Order>, newer: Graph<after::Order>, expected: &str) {
    on_every_store(async |store| {
        let outcome = store.thread(&older).run(before::Order::input()).await.unwrap();
        assert!(outcome.pause().is_some());
        let thread = store.thread(&newer);
        let answer = thread.interrupts().await.unwrap().only::<Sure>().unwrap().answer(true);
        let ended = thread.resume(answer).await.unwrap();
        assert_eq!(ended.state().prices.join(", "), expected);
    })
    .await;
}

#[tokio::test]
async fn call_with_its_own_state_is_migrated() {
    assert_continues(before::mapped(), after::mapped(), "old 1, new 2").await;
}

#[tokio::test]
async fn call_on_the_parent_state_is_migrated() {
    assert_continues(before::shared(), after::shared(), "old 4, new 5").await;
}

#[tokio::test]
async fn parent_command_is_migrated() {
    assert_continues(before::commands(), after::commands(), "new 5, old 7, new 8").await;
}

#[tokio::test]
async fn per_thread_state_of_earlier_calls_is_migrated() {
    on_every_store(async |store| {
        for _ in 0..2 {
            let thread = store.thread(&before::mapped());
            thread.run(before::Order::input()).await.unwrap();
            let answer = thread.interrupts().await.unwrap().only::<Sure>().unwrap().answer(true);
            thread.resume(answer).await.unwrap();
        }
        let thread = store.thread(&after::mapped());
        thread.run(after::Order::input()).await.unwrap();
        let answer = thread.interrupts().await.unwrap().only::<Sure>().unwrap().answer(true);
        let ended = thread.resume(answer).await.unwrap();
        assert_eq!(ended.state().prices.join(", "), "old 1, old 2, old 1, old 2, new 1, new 2");
    })
    .await;
}
