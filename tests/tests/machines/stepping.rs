//! Machines that are stepped node by node.

use superstep::ErrorKind;
use superstep::machine::Machine;

use crate::fives::{DivisibleBy5, Fives, FivesNode, Increment};
use crate::shop::{Basket, Buy, Look, Prices, Shop};

#[tokio::test]
async fn next_runs_one_node_and_returns_the_following() {
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
async fn next_with_replaces_the_planned_node() {
    let mut run = Fives::compile().unwrap().run(DivisibleBy5(3)).recursion_limit(4).iter().unwrap();
    let Some(FivesNode::Increment(node)) = run.next().await.unwrap() else { panic!("{run:?}") };
    assert_eq!(node.foo, 3);
    // Replaces `Increment { foo: 3 }`.
    let next = run.next_with(Increment { foo: 98 }).await.unwrap();
    assert!(matches!(&next, Some(FivesNode::DivisibleBy5(node)) if node.0 == 99), "{next:?}");
    // A node that was returned before can be planned again.
    run.next_with(next.unwrap()).await.unwrap();
    assert_eq!(
        run.next().await.unwrap().map(|node| format!("{node:?}")).as_deref(),
        Some("DivisibleBy5(100)")
    );
    // A manual redirect does not count towards the recursion limit.
    let error = run.next().await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::RecursionLimit { .. }), "{error}");
}

#[tokio::test]
async fn ended_machine_continues_with_another_node() {
    let mut run = Fives::compile().unwrap().run(DivisibleBy5(5)).iter().unwrap();
    assert!(run.next().await.unwrap().is_none());
    assert_eq!(run.output(), Some(&5));
    assert!(run.next_with(Increment { foo: 8 }).await.unwrap().is_some());
    assert_eq!(run.output(), None);
    assert_eq!(run.finish().await.unwrap().ended().unwrap().output, 10);
}

#[tokio::test]
async fn failed_node_stays_planned() {
    let prices = Prices(vec![("tea", 3)]);
    let missing = Buy { what: "milk".to_owned(), next: 0 };
    let run = Shop::compile().unwrap().run_with(missing, Basket::input(10_u32)).context(prices);
    let mut run = run.iter().unwrap();
    run.next().await.unwrap_err();
    assert_eq!(format!("{:?}", run.planned().unwrap()), r#"Buy({"next":0,"what":"milk"})"#);
    run.next_with(Look { from: 0 }).await.unwrap();
    assert_eq!(run.finish().await.unwrap().ended().unwrap().output, "tea");
}
