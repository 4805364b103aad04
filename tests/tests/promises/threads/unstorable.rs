//! A value that a store could not give back fails the run that makes it; nothing turns into null.

use std::error::Error as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use graph_core::{Ctx, END, Graph, GraphState, START, StateGraph};

use super::stores::on_every_store;

#[derive(GraphState, Clone, Debug)]
struct Measure {
    #[state(input)]
    number: f64,
    nested: Option<Option<u32>>,
    #[state(reducer = append)]
    list: Vec<f64>,
    #[state(reducer = append)]
    log: Vec<String>,
}

/// Which mistake the node makes; none at 0.
type Mistake = AtomicUsize;

async fn before(_: &Measure) -> MeasureUpdate {
    Measure::update().log(["before".to_owned()])
}

async fn measure(_: &Measure, cx: &Ctx<Mistake>) -> MeasureUpdate {
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

/// An error and its causes.
fn said(error: &graph_core::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(&format!(": {error}"));
        cause = error.source();
    }
    text
}

#[tokio::test]
async fn a_value_that_cannot_be_stored_fails_its_superstep_and_the_thread_goes_on_later() {
    on_every_store(async |place| {
        let mistake = Arc::new(Mistake::default());
        for (number, field) in [(1, "number"), (2, "number"), (3, "nested"), (4, "list")] {
            mistake.store(number, Ordering::SeqCst);
            let thread = place.thread(&graph());
            let run = thread.run(Measure::input(1.0)).context(Arc::clone(&mistake));
            let error = run.await.unwrap_err();
            let text = said(&error);
            let cause = format!("field `{field}` cannot be stored");
            assert!(text.contains("`measure`") && text.contains(&cause), "{text}");
            let stored = thread.state().await.unwrap().unwrap();
            assert_eq!(stored.state.unwrap().log.last().unwrap(), "before", "nothing of it is applied");

            mistake.store(0, Ordering::SeqCst);
            let resumed = place.thread(&graph()).resume(()).context(Arc::clone(&mistake)).await.unwrap();
            let state = resumed.into_state();
            assert_eq!((state.number, state.nested), (0.1 + 0.2, Some(Some(1))));
            let stored = place.thread(&graph()).state().await.unwrap().unwrap().state.unwrap();
            assert_eq!(stored.number.to_bits(), state.number.to_bits());
            assert_eq!(stored.list, state.list);
        }
    })
    .await;
}

#[tokio::test]
async fn an_input_that_cannot_be_stored_is_refused_and_leaves_no_thread() {
    on_every_store(async |place| {
        let thread = place.thread(&graph());
        let error = thread.run(Measure::input(f64::NAN)).context(Mistake::default()).await.unwrap_err();
        assert!(said(&error).contains("field `number` cannot be stored"), "{error:?}");
        assert!(thread.state().await.unwrap().is_none());
        thread.run(Measure::input(1.0)).context(Mistake::default()).await.unwrap();
        let error = thread.update(Measure::update().number(f64::NAN), None).context(Mistake::default()).await;
        let text = said(&error.unwrap_err());
        assert!(text.contains("field `number` cannot be stored"), "{text}");
        assert_eq!(thread.history().await.unwrap().len(), 4);
    })
    .await;
}
