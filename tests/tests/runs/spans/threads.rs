//! Spans of runs on threads: thread id, run id and kind of start.

use superstep::checkpoint::MemoryCheckpointer;
use superstep::thread::PersistentGraph;
use superstep::{END, START, StateGraph};
use tests::spans::Recorded;

use super::{Case, CaseUpdate, fails, note, recorded};
use crate::engine::trace::block_on;

async fn fine(case: &Case) -> CaseUpdate {
    note(case)
}

fn graph() -> PersistentGraph<Case> {
    let graph = StateGraph::<Case>::new().name("chain").edge(START, fine).edge(fine, END).compile().unwrap();
    graph.with_checkpointer(MemoryCheckpointer::new())
}

#[test]
fn every_span_records_the_thread() {
    let recorded = Recorded::here();
    block_on(async {
        graph().thread("ann").run(Case::input()).run_id("r-1").await.unwrap();
    });
    expect_test::expect![[r#"
        run otel.name=invoke_agent chain otel.kind=internal gen_ai.operation.name=invoke_agent gen_ai.agent.name=chain gen_ai.conversation.id=ann graph.run.id=r-1 graph.run.begin=input graph.supersteps=1 graph.outcome=done
          superstep otel.name=superstep 1 otel.kind=internal gen_ai.agent.name=chain gen_ai.conversation.id=ann graph.step=1 graph.tasks=1 graph.outcome=done
            node otel.name=node fine otel.kind=internal gen_ai.agent.name=chain gen_ai.conversation.id=ann graph.node=fine graph.step=1 graph.task=0 graph.attempt=1 graph.outcome=ok
    "#]]
    .assert_eq(&recorded.whole());
}

#[test]
fn run_span_records_its_start_and_run_id() {
    let graph = graph();
    let thread = graph.thread("ann");
    let mut runs = Vec::new();
    let tree = recorded(async {
        thread.run(Case::input()).await.unwrap();
        let first = thread.history().await.unwrap().pop().unwrap();
        runs.push(first.run_id.to_string());
        thread.at(first.id).run_again().await.unwrap();
        runs.push(thread.state().await.unwrap().unwrap().run_id.to_string());
        // Nothing is left to run: no superstep, and no new run id.
        thread.resume(()).await.unwrap();
    });
    let tree = tree.replace(&runs[0], "ONE").replace(&runs[1], "TWO");
    expect_test::expect![[r#"
        run run.begin=input run.id=ONE supersteps=1 outcome=done
          superstep step=1 tasks=1 outcome=done
            node node=fine step=1 task=0 attempt=1 outcome=ok
        run run.begin=again run.id=TWO supersteps=1 outcome=done
          superstep step=2 tasks=1 outcome=done
            node node=fine step=2 task=0 attempt=1 outcome=ok
        run run.begin=resume supersteps=0 outcome=done
    "#]]
    .assert_eq(&tree);
}

#[test]
fn stepped_run_on_a_thread_records_the_same_spans() {
    let tree = recorded(async {
        let thread = graph().thread("ann");
        let mut run = thread.run(Case::input()).run_id("r").start().await.unwrap().unwrap();
        while run.step().await.unwrap() {}
        drop(run);
        // The run id is known, so there is nothing to step.
        assert!(thread.run(Case::input()).run_id("r").start().await.unwrap().is_none());
    });
    expect_test::expect![[r#"
        run run.id=r run.begin=input supersteps=1 outcome=done
          superstep step=1 tasks=1 outcome=done
            node node=fine step=1 task=0 attempt=1 outcome=ok
        run run.id=r run.begin=input supersteps=0 outcome=done
    "#]]
    .assert_eq(&tree);
}

#[test]
fn refused_and_failed_runs_record_their_error_kind() {
    let tree = recorded(async {
        let graph = StateGraph::<Case>::new().edge(START, fails).edge(fails, END).compile().unwrap();
        let graph = graph.with_checkpointer(MemoryCheckpointer::new());
        let thread = graph.thread("ann");
        thread.resume(()).await.unwrap_err();
        thread.run(Case::input()).run_id("r").await.unwrap_err();
        thread.run(Case::input()).start().await.unwrap_err();
    });
    expect_test::expect![[r#"
        run run.begin=resume supersteps=0 outcome=failed error.type=NoThread
        run run.id=r run.begin=input supersteps=0 outcome=failed error.type=Node
          superstep step=1 tasks=1 outcome=failed error.type=Node
            node node=fails step=1 task=0 attempt=1 outcome=failed error.type=runs::spans::Leaky
        run run.begin=input supersteps=0 outcome=failed error.type=PendingTasks
    "#]]
    .assert_eq(&tree);
}
