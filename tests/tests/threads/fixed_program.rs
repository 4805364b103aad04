//! A superstep that one program refused is applied by a fixed program from the stored results.

use superstep::{END, ErrorKind, Graph, GraphState, START, StateGraph};

use super::stores::on_every_store;

/// The graph of both versions. Its nodes count how often they run.
macro_rules! graph {
    () => {
        async fn left(_: &Sheet, cx: &ContextWith<Runs>) -> SheetUpdate {
            cx.context().fetch_add(1, Ordering::SeqCst);
            Sheet::update().number(1_u32).greatest(7_u32).words(vec!["left".to_owned()])
        }

        async fn right(_: &Sheet, cx: &ContextWith<Runs>) -> SheetUpdate {
            cx.context().fetch_add(1, Ordering::SeqCst);
            Sheet::update().number(2_u32).greatest(4_u32).words(vec!["right".to_owned()])
        }

        async fn last(_: &Sheet) {}

        pub(super) fn graph() -> Graph<Sheet, Runs> {
            StateGraph::<Sheet>::with_context::<Runs>()
                .edge(START, (left, right))
                .join((left, right), last)
                .edge(last, END)
                .compile()
                .unwrap()
        }
    };
}

mod before {
    use std::sync::atomic::Ordering;

    use superstep::ContextWith;

    use super::*;

    #[derive(GraphState, Clone)]
    pub(super) struct Sheet {
        number: u32,
        greatest: u32,
        words: Vec<String>,
    }

    graph!();
}

mod after {
    use std::sync::atomic::Ordering;

    use superstep::ContextWith;

    use super::*;

    #[derive(GraphState, Clone, Debug, PartialEq)]
    pub(super) struct Sheet {
        #[state(reducer = add)]
        pub(super) number: u32,
        #[state(reducer = max)]
        pub(super) greatest: u32,
        #[state(reducer = append)]
        pub(super) words: Vec<String>,
    }

    graph!();
}

type Runs = std::sync::atomic::AtomicU32;

#[tokio::test]
async fn conflicting_results_apply_once_the_field_has_a_reducer() {
    on_every_store(async |store| {
        let runs = std::sync::Arc::new(Runs::new(0));
        let thread = store.thread(&before::graph());
        let error = thread.run(before::Sheet::input()).context(runs.clone()).await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::WriteConflict { .. }), "{error}");
        assert_eq!(runs.swap(0, std::sync::atomic::Ordering::SeqCst), 2);

        let ended = store.thread(&after::graph()).resume(()).context(runs.clone()).await.unwrap();
        let words = vec!["left".to_owned(), "right".to_owned()];
        assert_eq!(*ended.state(), after::Sheet { number: 3, greatest: 7, words });
        assert_eq!(runs.load(std::sync::atomic::Ordering::SeqCst), 0, "neither runs again");
    })
    .await;
}
