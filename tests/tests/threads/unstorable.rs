//! A value that could not be read back fails its run. No value becomes null.

use std::error::Error as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::{Deserialize, Serialize};
use superstep::{ContextWith, END, ErrorKind, FailureMode, Graph, GraphState, Route, START, StateGraph};

use super::stores::on_every_store;

#[derive(GraphState, Clone, Debug)]
struct Measure {
    #[state(input)]
    number: f64,
    nested: Option<Option<u32>>,
    #[state(input, reducer = append)]
    list: Vec<f64>,
    #[state(reducer = append)]
    log: Vec<String>,
}

/// Selects the mistake of the node, none at 0.
type Mistake = AtomicUsize;

async fn before(_: &Measure) -> MeasureUpdate {
    Measure::update().log(["before".to_owned()])
}

async fn measure(_: &Measure, cx: &ContextWith<Mistake>) -> MeasureUpdate {
    let update = Measure::update().log(["measure".to_owned()]);
    match cx.context().load(Ordering::SeqCst) {
        1 => update.number(f64::NAN),
        2 => update.number(f64::NEG_INFINITY),
        3 => update.nested(Some(None)),
        4 => update.list([1.0, f64::NAN]),
        _ => update.number(0.1 + 0.2).nested(Some(Some(1))).list([f64::MIN_POSITIVE]),
    }
}

fn graph() -> Graph<Measure, Mistake> {
    StateGraph::<Measure>::with_context::<Mistake>()
        .edge(START, before)
        .edge(before, measure)
        .edge(measure, END)
        .compile()
        .unwrap()
}

/// Returns the nodes and the field of the write that could not be stored.
#[track_caller]
fn refused(error: &superstep::Error) -> (String, &'static str) {
    let ErrorKind::NotStorable { nodes, source, .. } = error.kind() else { panic!("{error:?}") };
    let field = source.field();
    let cause = error.source().unwrap().to_string();
    assert!(cause.starts_with(&format!("field `{field}` cannot be stored")), "{cause}");
    (nodes.join(" "), field)
}

#[tokio::test]
async fn unstorable_value_fails_its_superstep() {
    on_every_store(async |store| {
        let mistake = Arc::new(Mistake::default());
        for (number, field) in [(1, "number"), (2, "number"), (3, "nested"), (4, "list")] {
            mistake.store(number, Ordering::SeqCst);
            let thread = store.thread(&graph());
            let run = thread.run(Measure::input(1.0)).context(Arc::clone(&mistake));
            let error = run.await.unwrap_err();
            assert_eq!(refused(&error), ("measure".to_owned(), field));
            let stored = thread.state().await.unwrap().unwrap();
            assert!(stored.tasks[0].result.is_none());
            let text = &stored.tasks[0].error.as_ref().unwrap().text;
            assert!(text.contains(&format!("field `{field}` cannot be stored")), "{text}");
            assert_eq!(stored.state.unwrap().log.last().unwrap(), "before", "nothing of it is applied");

            mistake.store(0, Ordering::SeqCst);
            let resumed = store.thread(&graph()).resume(()).context(Arc::clone(&mistake)).await.unwrap();
            let state = resumed.into_state();
            assert_eq!((state.number, state.nested), (0.1 + 0.2, Some(Some(1))));
            let stored = store.thread(&graph()).state().await.unwrap().unwrap().state.unwrap();
            assert_eq!(stored.number.to_bits(), state.number.to_bits());
            assert_eq!(stored.list, state.list);
        }
    })
    .await;
}

async fn sibling(_: &Measure) -> MeasureUpdate {
    Measure::update().log(["sibling".to_owned()])
}

async fn fails(_: &Measure, cx: &ContextWith<Mistake>) -> superstep::Result<MeasureUpdate> {
    if cx.context().load(Ordering::SeqCst) == 5 {
        superstep::bail!("it fails by itself");
    }
    Ok(Measure::update())
}

#[derive(Route)]
enum Sends {
    #[to(sample)]
    Sample(Sample),
}

#[derive(Serialize, Deserialize)]
struct Sample {
    number: f64,
}

async fn sample(sample: &Sample) -> MeasureUpdate {
    Measure::update().list([sample.number])
}

async fn sends(_: &Measure, cx: &ContextWith<Mistake>) -> Sends {
    let number = if cx.context().load(Ordering::SeqCst) == 6 { f64::NAN } else { 1.0 };
    Sends::Sample(Sample { number })
}

fn fan_out() -> Graph<Measure, Mistake> {
    StateGraph::<Measure>::with_context::<Mistake>()
        .edge(START, (measure, sibling, fails, sends))
        .edge(measure, END)
        .edge(sibling, END)
        .edge(fails, END)
        .edge(sample, END)
        .compile()
        .unwrap()
}

#[tokio::test]
async fn siblings_of_an_unstorable_value_keep_their_results() {
    on_every_store(async |store| {
        let mistake = Arc::new(Mistake::default());
        for (number, who) in
            [(1, ("measure", "number")), (4, ("measure", "list")), (6, ("sends", "(a packet)"))]
        {
            mistake.store(number, Ordering::SeqCst);
            let thread = store.thread(&fan_out());
            let run = thread.run(Measure::input(1.0)).on_failure(FailureMode::Collect);
            let error = run.context(Arc::clone(&mistake)).await.unwrap_err();
            assert_eq!(refused(&error), (who.0.to_owned(), who.1));
            let stored = thread.state().await.unwrap().unwrap();
            let finished =
                stored.tasks.iter().map(|task| (&*task.node, task.result.is_some(), task.error.is_some()));
            let expected =
                ["measure", "sibling", "fails", "sends"].map(|node| (node, node != who.0, node == who.0));
            assert_eq!(finished.collect::<Vec<_>>(), expected);

            mistake.store(0, Ordering::SeqCst);
            let resumed = store.thread(&fan_out()).resume(()).context(Arc::clone(&mistake)).await.unwrap();
            assert_eq!(resumed.state().log, ["measure", "sibling"]);
            assert_eq!(resumed.state().list, [f64::MIN_POSITIVE, 1.0]);
            thread.delete().await.unwrap();
        }
    })
    .await;
}

#[tokio::test]
async fn node_failure_is_reported_beside_an_unstorable_value() {
    on_every_store(async |store| {
        let graph = StateGraph::<Measure>::with_context::<Mistake>();
        let graph = graph.edge(START, (unstorable, fails)).edge(unstorable, END).edge(fails, END);
        let thread = store.thread(&graph.compile().unwrap());
        let run = thread.run(Measure::input(1.0)).on_failure(FailureMode::Collect);
        let error = run.context(Mistake::new(5)).await.unwrap_err();
        let ErrorKind::Node { first, others, .. } = error.kind() else { panic!("{error:?}") };
        assert_eq!((first.node.as_str(), others[0].node.as_str()), ("unstorable", "fails"));
        assert!(first.error.to_string().starts_with("field `number` cannot be stored"), "{}", first.error);
    })
    .await;
}

async fn unstorable(_: &Measure) -> MeasureUpdate {
    Measure::update().number(f64::NAN)
}

#[tokio::test]
async fn unstorable_input_creates_no_thread() {
    on_every_store(async |store| {
        let thread = store.thread(&graph());
        let start = |field| ("START".to_owned(), field);
        let inputs =
            || [(Measure::input(f64::NAN), "number"), (Measure::input(1.0).list([f64::INFINITY]), "list")];
        for (input, field) in inputs() {
            let error = thread.run(input).context(Mistake::default()).await.unwrap_err();
            assert_eq!(refused(&error), start(field));
            assert!(thread.state().await.unwrap().is_none());
        }
        thread.run(Measure::input(1.0)).context(Mistake::default()).await.unwrap();
        for (input, field) in inputs() {
            let error = thread.run(input).context(Mistake::default()).await.unwrap_err();
            assert_eq!(refused(&error), start(field));
        }
        for (update, field) in
            [(Measure::update().number(f64::NAN), "number"), (Measure::update().list([f64::NAN]), "list")]
        {
            let error = thread.update(update, None).context(Mistake::default()).await.unwrap_err();
            assert_eq!(refused(&error), ("measure".to_owned(), field));
        }
        assert_eq!(thread.history().await.unwrap().len(), 4);
        thread.run(Measure::input(1.0)).context(Mistake::default()).await.unwrap();
    })
    .await;
}
