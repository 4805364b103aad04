//! Runs of machines: start node, state, errors, options and output.

use serde::{Deserialize, Serialize};
use superstep::machine::{End, Ended, Machine, To, to};
use superstep::{ErrorKind, GraphState as _};

use crate::fives::{DivisibleBy5, Fives, Increment};
use crate::shop::{Basket, Buy, Look, Prices, Shop};

#[tokio::test]
async fn machine_can_start_at_any_node() {
    let fives = Fives::compile().unwrap();
    for (ended, expected) in [
        (fives.run(DivisibleBy5(4)).await, 5),
        (fives.run(Increment { foo: 4 }).await, 5),
        (fives.run(Increment { foo: 5 }).await, 10),
        (fives.run(DivisibleBy5(0)).await, 0),
    ] {
        assert_eq!(ended.unwrap().ended().unwrap().output, expected);
    }
}

#[tokio::test]
async fn nodes_update_the_state_and_read_the_context() {
    let shop = Shop::compile().unwrap();
    let prices = || Prices(vec![("tea", 3), ("cake", 4), ("piano", 4_000)]);
    let run = shop.run_with(Look { from: 0 }, Basket::input(10_u32)).context(prices());
    let ended = run.await.unwrap().ended().unwrap();
    assert_eq!(ended.output, "tea and cake");
    assert_eq!(
        (ended.state.spent, &*ended.state.bought),
        (7, &["tea", "cake", "left at leave"].map(String::from)[..])
    );

    let outcome = shop.run_with(Look { from: 1 }, Basket::input(4_u32)).context(prices()).await.unwrap();
    assert_eq!(
        outcome.state().dump().to_string(),
        r#"{"budget":4,"bought":["cake","left at leave"],"spent":4,"@end":{"End":"cake"}}"#,
        "the fields of the state are fields of the run, and the start node is not dumped"
    );
}

#[tokio::test]
async fn errors_name_the_node_and_rules_are_checked() {
    let shop = Shop::compile().unwrap();
    let gone = Buy { what: "milk".to_owned(), next: 0 };
    let prices = || Prices(vec![("piano", 4_000)]);
    let error = shop.run_with(gone, Basket::input(1_u32)).context(prices()).await.unwrap_err();
    assert_eq!(error.to_string(), "graph `Shop`: node `Buy` failed in superstep 1, attempt 1");
    let error =
        shop.run_with(Look { from: 0 }, Basket::input(5_000_u32)).context(prices()).await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Validation { .. }), "{error}");
    assert!(error.to_string().contains("`Buy`"), "{error}");
}

#[tokio::test]
async fn machine_runs_have_options_and_events_of_graphs() {
    let fives = Fives::compile().unwrap();
    let error = fives.run(DivisibleBy5(1)).recursion_limit(8).await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::RecursionLimit { limit: 8, .. }), "{error}");
    assert_eq!(fives.run(DivisibleBy5(1)).recursion_limit(9).await.unwrap().ended().unwrap().output, 5);

    let mut nodes = Vec::new();
    let outcome = fives.run(DivisibleBy5(4)).stream().for_each(|event| {
        if let superstep::EventKind::TaskStarted { .. } = &event.kind {
            nodes.push(event.superstep);
        }
    });
    assert_eq!(outcome.await.unwrap().ended().unwrap().output, 5);
    assert_eq!(nodes, [1, 2, 3]);

    let paused = fives.run(DivisibleBy5(1)).interrupt_before(Fives::node::<Increment>()).await.unwrap();
    assert_eq!(paused.pause().unwrap().before(), ["Increment"]);
    assert_eq!(
        paused.ended().unwrap_err().to_string(),
        "graph `Fives`: there is no output yet: the run waits for a resumption past the breakpoint at `Increment`"
    );
}

#[derive(Machine)]
#[machine(nodes(Flag))]
struct Quiet;

#[derive(Serialize, Deserialize)]
enum Flag {
    Up,
    Down(Option<u8>),
}

impl Flag {
    async fn run(&self) -> To<Quiet, (Flag, End)> {
        match self {
            Self::Up => to(Self::Down(None)),
            Self::Down(None) => to(Self::Down(Some(1))),
            Self::Down(Some(_)) => to(End(())),
        }
    }
}

#[tokio::test]
async fn node_can_be_an_enum_that_leads_to_itself() {
    let Ended { output: (), .. } = Quiet::compile().unwrap().run(Flag::Up).await.unwrap().ended().unwrap();
}
