//! `tracing` spans of runs, supersteps and attempts.

mod interrupts;
mod outcomes;
mod threads;
mod worker_threads;

use superstep::cache::{CachePolicy, MemoryCache};
use superstep::{Context, END, Graph, GraphState, Result, START, StateGraph};
use tests::spans::Recorded;
use tracing::{Instrument as _, info, info_span};

use crate::engine::trace::block_on;

/// A value in every state, question, error and panic that must be in no span.
pub(crate) const SECRET: &str = "hunter2";

#[derive(GraphState, Clone, Debug)]
pub(crate) struct Case {
    #[state(input, exclude, default = SECRET.to_owned())]
    pub(crate) secret: String,
    #[state(reducer = append)]
    pub(crate) notes: Vec<String>,
}

pub(crate) fn note(case: &Case) -> CaseUpdate {
    Case::update().notes([case.secret.clone()])
}

async fn first(case: &Case) -> CaseUpdate {
    info!(words = "in the node");
    tokio::task::yield_now().await;
    let _inner = info_span!("inner").entered();
    info!(words = "in a span of the node's own");
    note(case)
}

async fn second(case: &Case, cx: &Context) -> CaseUpdate {
    info!(words = cx.node());
    note(case)
}

fn chain() -> Graph<Case> {
    let graph = StateGraph::<Case>::new().name("chain").edge(START, first).edge(first, second);
    graph.edge(second, END).compile().unwrap()
}

#[derive(Debug, thiserror::Error)]
#[error("the password is {SECRET}")]
pub(crate) struct Leaky;

pub(crate) async fn fails(_: &Case) -> Result<CaseUpdate> {
    Err(Leaky)?
}

/// Returns the span tree of a future. Panics if it contains the secret.
pub(crate) fn recorded(future: impl Future<Output = ()>) -> String {
    let recorded = Recorded::here();
    block_on(future);
    let whole = recorded.whole();
    assert!(!whole.contains(SECRET), "{whole}");
    recorded.short()
}

#[test]
fn spans_have_all_their_fields() {
    let recorded = Recorded::here();
    block_on(chain().run(Case::input())).unwrap();
    expect_test::expect![[r#"
        run otel.name=invoke_agent chain otel.kind=internal gen_ai.operation.name=invoke_agent gen_ai.agent.name=chain graph.run.begin=input graph.supersteps=2 graph.outcome=done
          superstep otel.name=superstep 1 otel.kind=internal gen_ai.agent.name=chain graph.step=1 graph.tasks=1 graph.outcome=done
            node otel.name=node first otel.kind=internal gen_ai.agent.name=chain graph.node=first graph.step=1 graph.task=0 graph.attempt=1 graph.outcome=ok
              event words=in the node
              inner
                event words=in a span of the node's own
          superstep otel.name=superstep 2 otel.kind=internal gen_ai.agent.name=chain graph.step=2 graph.tasks=1 graph.outcome=done
            node otel.name=node second otel.kind=internal gen_ai.agent.name=chain graph.node=second graph.step=2 graph.task=0 graph.attempt=1 graph.outcome=ok
              event words=second
    "#]]
    .assert_eq(&recorded.whole());
}

#[test]
fn run_span_is_inside_the_span_of_its_caller() {
    let tree = recorded(async {
        let run = chain().run(Case::input());
        run.instrument(info_span!("request")).await.unwrap();
        info!(words = "behind it");
    });
    expect_test::expect![[r#"
        request
          run run.begin=input supersteps=2 outcome=done
            superstep step=1 tasks=1 outcome=done
              node node=first step=1 task=0 attempt=1 outcome=ok
                event words=in the node
                inner
                  event words=in a span of the node's own
            superstep step=2 tasks=1 outcome=done
              node node=second step=2 task=0 attempt=1 outcome=ok
                event words=second
        event words=behind it
    "#]]
    .assert_eq(&tree);
}

#[test]
fn streamed_and_stepped_runs_record_the_same_spans() {
    let awaited = recorded(async {
        chain().run(Case::input()).await.unwrap();
    });
    let streamed = recorded(async {
        chain().stream(Case::input()).for_each(|_| ()).await.unwrap();
    });
    let stepped = recorded(async {
        let mut run = chain().run(Case::input()).start().unwrap();
        while run.step().await.unwrap() {}
    });
    let finished = recorded(async {
        let run = chain().run(Case::input()).start().unwrap();
        run.finish().await.unwrap();
    });
    assert_eq!(streamed, awaited);
    assert_eq!(stepped, awaited);
    assert_eq!(finished, awaited);
}

#[test]
fn cache_hit_is_recorded_in_the_node_span() {
    let graph = StateGraph::<Case>::new().name("chain").edge(START, second).edge(second, END);
    let graph = graph
        .cache(second, CachePolicy::by(|_: &Case| SECRET))
        .compile()
        .unwrap()
        .with_cache(MemoryCache::new());
    let tree = recorded(async {
        graph.run(Case::input()).await.unwrap();
        graph.run(Case::input()).await.unwrap();
    });
    expect_test::expect![[r#"
        run run.begin=input supersteps=1 outcome=done
          superstep step=1 tasks=1 outcome=done
            node node=second step=1 task=0 attempt=1 outcome=ok
              event words=second
        run run.begin=input supersteps=1 outcome=done
          superstep step=1 tasks=1 outcome=done
            node node=second step=1 task=0 attempt=1 outcome=cached
    "#]]
    .assert_eq(&tree);
}

#[test]
fn spans_of_concurrent_runs_are_separate() {
    let tree = recorded(async {
        let (one, two) = (chain(), chain());
        let (one, two) = tokio::join!(one.run(Case::input()), two.run(Case::input()));
        one.and(two).unwrap();
    });
    let half = tree.len() / 2;
    assert_eq!(tree[..half], tree[half..], "{tree}");
}

#[test]
fn filtered_subscriber_receives_no_spans() {
    use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
    let recorded = Recorded::here();
    let others = tracing_subscriber::filter::filter_fn(|metadata| metadata.target() != "superstep");
    let subscriber = tracing_subscriber::registry().with(recorded.layer().with_filter(others));
    tracing::subscriber::with_default(subscriber, || {
        block_on(chain().run(Case::input())).unwrap();
    });
    expect_test::expect![[r#"
        event words=in the node
        inner
          event words=in a span of the node's own
        event words=second
    "#]]
    .assert_eq(&recorded.short());
}
