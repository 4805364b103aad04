//! Writes of the checkpointer whose answer is lost are made once.

use superstep::{END, GraphState, START, StateGraph};
use superstep_postgres::PostgresCheckpointer;
use superstep_store::checkpoint::Checkpointer as _;

use crate::fixture::{Schema, runtime, url};
use crate::proxy::{COMMIT, Cut, Proxy};

#[derive(GraphState, Clone)]
struct Count {
    #[state(input)]
    n: u32,
}

async fn next(count: &Count) -> CountUpdate {
    Count::update().n(count.n + 1)
}

/// Runs a thread of three checkpoints.
async fn run(store: &PostgresCheckpointer, thread: &str) {
    let graph = StateGraph::<Count>::new().edge(START, next).edge(next, END).compile().unwrap();
    let counts = graph.with_checkpointer(store.clone());
    let outcome = counts.thread(thread).run(Count::input(1)).await.unwrap();
    assert_eq!(outcome.state().n, 2);
    assert_eq!(counts.thread(thread).state().await.unwrap().unwrap().state.unwrap().n, 2);
}

const CUTS: [Cut; 2] = [Cut::Before, Cut::After];

#[test]
fn lost_answer_of_a_checkpoint_is_looked_up() {
    if url().is_none() {
        return;
    }
    let (schema, proxy) = (Schema::new(), Proxy::start());
    runtime().block_on(async {
        let store = schema.options().connect(&proxy.url).await.unwrap();
        for cut in CUTS {
            proxy.cut(".commit(", cut);
            run(&store, &format!("{cut:?}")).await;
            assert!(proxy.has_cut(), "{cut:?}");
        }
    });
}

#[test]
fn lost_answer_of_a_deletion_is_looked_up() {
    if url().is_none() {
        return;
    }
    let (schema, proxy) = (Schema::new(), Proxy::start());
    runtime().block_on(async {
        let store = schema.options().connect(&proxy.url).await.unwrap();
        for statement in ["delete_thread(", COMMIT] {
            for cut in CUTS {
                run(&store, "t").await;
                proxy.cut(statement, cut);
                assert!(store.delete("t", None).await.unwrap(), "{statement:?} {cut:?}");
                assert!(proxy.has_cut(), "{statement:?} {cut:?}");
                assert!(!store.delete("t", None).await.unwrap(), "{statement:?} {cut:?}");
            }
        }
    });
}

#[test]
fn lost_answer_of_a_copy_is_looked_up() {
    if url().is_none() {
        return;
    }
    let (schema, proxy) = (Schema::new(), Proxy::start());
    runtime().block_on(async {
        let store = schema.options().connect(&proxy.url).await.unwrap();
        run(&store, "t").await;
        for cut in CUTS {
            proxy.cut("copy_thread(", cut);
            let copy = format!("{cut:?}");
            store.copy("t", &copy, None).await.unwrap();
            assert!(proxy.has_cut(), "{cut:?}");
            assert!(store.delete(&copy, None).await.unwrap(), "{cut:?}");
        }
    });
}
