//! A machine is run node by node: the planned one, or another.

use superstep::ErrorKind;
use superstep::machine::Machine;

use crate::fives::{DivisibleBy5, Fives, FivesNode, Increment};
use crate::shop::{Basket, Buy, Look, Prices, Shop};

#[tokio::test]
async fn each_call_runs_a_node_and_shows_the_next_one() {
    let mut run = Fives::compile().unwrap().run(DivisibleBy5(3)).iter().unwrap();
    let mut shown = vec![format!("{:?}", run.planned().unwrap())];
    while let Some(node) = run.next().await.unwrap() {
        assert_eq!(run.output(), None);
        shown.push(format!("{node:?}"));
    }
    assert_eq!(
        shown,
        [
            "DivisibleBy5(3)",
            r#"Increment({"foo":3})"#,
            "DivisibleBy5(4)",
            r#"Increment({"foo":4})"#,
            "DivisibleBy5(5)"
        ]
    );
    assert_eq!(run.output(), Some(&5));
    assert!(run.planned().is_none() && run.next().await.unwrap().is_none());
    assert_eq!(run.finish().await.unwrap().ended().unwrap().output, 5);
}

#[tokio::test]
async fn another_node_takes_the_place_of_the_planned_one() {
    let mut run = Fives::compile().unwrap().run(DivisibleBy5(3)).recursion_limit(4).iter().unwrap();
    let Some(FivesNode::Increment(node)) = run.next().await.unwrap() else { panic!("{run:?}") };
    assert_eq!(node.foo, 3);
    // Instead of incrementing 3.
    let next = run.next_with(Increment { foo: 98 }).await.unwrap();
    assert!(matches!(&next, Some(FivesNode::DivisibleBy5(node)) if node.0 == 99), "{next:?}");
    // What was shown can be given back, also later.
    run.next_with(next.unwrap()).await.unwrap();
    assert_eq!(
        run.next().await.unwrap().map(|node| format!("{node:?}")).as_deref(),
        Some("DivisibleBy5(100)")
    );
    // What is led elsewhere by hand is no superstep of those that the run may have.
    let error = run.next().await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::RecursionLimit { .. }), "{error}");
}

#[tokio::test]
async fn a_machine_that_has_ended_goes_on_with_another_node() {
    let mut run = Fives::compile().unwrap().run(DivisibleBy5(5)).iter().unwrap();
    assert!(run.next().await.unwrap().is_none());
    assert_eq!(run.output(), Some(&5));
    assert!(run.next_with(Increment { foo: 8 }).await.unwrap().is_some());
    assert_eq!(run.output(), None);
    assert_eq!(run.finish().await.unwrap().ended().unwrap().output, 10);
}

#[tokio::test]
async fn a_node_that_fails_stays_planned() {
    let prices = Prices(vec![("tea", 3)]);
    let missing = Buy { what: "milk".to_owned(), next: 0 };
    let run = Shop::compile().unwrap().run_with(missing, Basket::input(10_u32)).context(prices);
    let mut run = run.iter().unwrap();
    run.next().await.unwrap_err();
    assert_eq!(format!("{:?}", run.planned().unwrap()), r#"Buy({"next":0,"what":"milk"})"#);
    run.next_with(Look { from: 0 }).await.unwrap();
    assert_eq!(run.finish().await.unwrap().ended().unwrap().output, "tea");
}
