//! Spans of interrupted runs, which contain no question.

use serde::{Deserialize, Serialize};
use superstep::checkpoint::MemoryCheckpointer;
use superstep::interrupt::Question;
use superstep::{Context, END, Graph, START, StateGraph};

use super::{Case, CaseUpdate, SECRET, note, recorded};

#[derive(Serialize, Deserialize, Clone, Debug)]
struct Password {
    is_it: String,
}

impl Question for Password {
    type Answer = bool;
}

async fn asks(case: &Case, cx: &Context) -> CaseUpdate {
    let is_it = case.secret.clone();
    cx.interrupt(Password { is_it }).await;
    note(case)
}

async fn beside(case: &Case) -> CaseUpdate {
    note(case)
}

fn lone() -> Graph<Case> {
    StateGraph::<Case>::new().edge(START, asks).edge(asks, END).compile().unwrap()
}

#[test]
fn question_suspends_its_node_and_interrupts_the_run() {
    let tree = recorded(async {
        let mut run = lone().run(Case::input()).start().unwrap();
        assert!(!run.step().await.unwrap());
        let asked = run.pause().unwrap().only::<Password>().unwrap();
        assert_eq!(asked.is_it, SECRET);
        run.answer(asked.answer(true)).unwrap();
        while run.step().await.unwrap() {}
    });
    expect_test::expect![[r#"
        run run.begin=input supersteps=1 outcome=done
          superstep step=1 tasks=1 outcome=interrupted
            node node=asks step=1 task=0 attempt=1 outcome=suspended
          superstep step=1 tasks=1 outcome=done
            node node=asks step=1 task=0 attempt=1 outcome=ok
    "#]]
    .assert_eq(&tree);
    let tree = recorded(async {
        lone().run(Case::input()).await.unwrap();
    });
    expect_test::expect![[r#"
        run run.begin=input supersteps=0 outcome=interrupted
          superstep step=1 tasks=1 outcome=interrupted
            node node=asks step=1 task=0 attempt=1 outcome=suspended
    "#]]
    .assert_eq(&tree);
}

#[test]
fn resumed_run_has_its_own_span_and_same_id() {
    let tree = recorded(async {
        let graph = StateGraph::<Case>::new().edge(START, (asks, beside)).join((asks, beside), END);
        let graph = graph.compile().unwrap().with_checkpointer(MemoryCheckpointer::new());
        let thread = graph.thread("ann");
        thread.run(Case::input()).run_id("r-1").await.unwrap();
        let asked = thread.interrupts().await.unwrap().only::<Password>().unwrap();
        thread.resume(asked.answer(true)).await.unwrap();
    });
    expect_test::expect![[r#"
        run run.id=r-1 run.begin=input supersteps=0 outcome=interrupted
          superstep step=1 tasks=2 outcome=interrupted
            node node=asks step=1 task=0 attempt=1 outcome=suspended
            node node=beside step=1 task=1 attempt=1 outcome=ok
        run run.begin=resume run.id=r-1 supersteps=1 outcome=done
          superstep step=1 tasks=2 outcome=done
            node node=asks step=1 task=0 attempt=1 outcome=ok
    "#]]
    .assert_eq(&tree);
}

#[test]
fn breakpoint_interrupts_the_run_without_a_superstep() {
    let tree = recorded(async {
        let graph = StateGraph::<Case>::new().edge(START, beside).edge(beside, END).compile().unwrap();
        graph.run(Case::input()).interrupt_before_all().await.unwrap();
    });
    assert_eq!(tree, "run run.begin=input supersteps=0 outcome=interrupted\n");
}
