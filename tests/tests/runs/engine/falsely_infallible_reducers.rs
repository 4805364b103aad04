//! Reducers that refuse a write although they declare themselves infallible.

use superstep::reducers::{ReduceError, Reducer, Stamp};
use superstep::{END, ErrorKind, GraphState, START, StateGraph};

use super::trace::block_on;

enum Even {}

impl Reducer<u32> for Even {
    type Update = u32;
    type Delta = u32;

    const FALLIBLE: bool = false;

    fn prepare(update: u32, _: &Stamp<'_>) -> Result<u32, ReduceError> {
        Ok(update)
    }

    fn fold(value: &mut u32, delta: u32) -> Result<(), ReduceError> {
        if delta % 2 == 1 {
            return Err(ReduceError::new("it is odd"));
        }
        *value += delta;
        Ok(())
    }
}

#[derive(GraphState, Clone)]
struct Sum {
    #[state(reducer = Even)]
    total: u32,
    other: u32,
}

async fn odd(_: &Sum) -> SumUpdate {
    Sum::update().total(1)
}

async fn even(_: &Sum) -> SumUpdate {
    Sum::update().total(2)
}

async fn beside(_: &Sum) -> SumUpdate {
    Sum::update().other(1)
}

#[test]
fn refusal_is_reported_after_a_single_node() {
    let graph = StateGraph::<Sum>::new().edge(START, even).edge(even, odd).edge(odd, even).compile().unwrap();
    let mut run = graph.run(Sum::input()).start().unwrap();
    assert!(block_on(run.step()).unwrap());
    for _ in 0..2 {
        let error = block_on(run.step()).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Reducer { field: "total", .. }), "{error}");
        assert_eq!((run.state().total, run.unfinished()), (2, vec!["odd"]));
    }
}

#[test]
fn refusal_beside_siblings_reruns_all_of_them() {
    let graph = StateGraph::<Sum>::new().edge(START, (beside, odd)).edge(beside, END).edge(odd, END);
    let mut run = graph.compile().unwrap().run(Sum::input()).start().unwrap();
    for _ in 0..2 {
        let error = block_on(run.step()).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Reducer { field: "total", .. }), "{error}");
        assert_eq!((run.state().other, run.unfinished()), (0, vec!["beside", "odd"]));
    }
}
