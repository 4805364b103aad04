//! Writes of the checkpointer whose answer is lost are made once.

use std::time::{Duration, Instant};

use superstep::{END, GraphState, START, StateGraph};
use superstep_postgres::PostgresCheckpointer;
use superstep_store::checkpoint::{
    BatchWrite, CheckpointError, CheckpointQuery, Checkpointer as _, Prune, RecordKey, RecordKind,
    TaskRecord, WriteBatch,
};
use superstep_store::payload::Payload;

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
fn pruned_checkpoints_are_counted_although_the_answer_is_lost() {
    if url().is_none() {
        return;
    }
    let (schema, proxy) = (Schema::new(), Proxy::start());
    runtime().block_on(async {
        let store = schema.options().connect(&proxy.url).await.unwrap();
        for cut in CUTS {
            let thread = format!("{cut:?}");
            run(&store, &thread).await;
            proxy.cut(COMMIT, cut);
            let pruned = store.prune(Prune::new().thread(&*thread).keep_last(1)).await.unwrap();
            assert!(proxy.has_cut(), "{cut:?}");
            assert_eq!(pruned.checkpoints, 2, "{cut:?}");
        }
    });
}

#[test]
fn history_and_checkpoint_are_one_round_trip_each() {
    if url().is_none() {
        return;
    }
    let (schema, proxy) = (Schema::new(), Proxy::start());
    runtime().block_on(async {
        let store = schema.options().max_connections(1).connect(&proxy.url).await.unwrap();
        run(&store, "t").await;
        let history = || store.history(CheckpointQuery::new("t"));
        // Opens the connection.
        let entries = history().await.unwrap().items;
        assert_eq!(entries.len(), 3);

        // Waits for the only connection, on which the history's transaction ends.
        store.get("t", "", None).await.unwrap();

        let delay = Duration::from_millis(400);
        proxy.delay(delay);
        let start = Instant::now();
        assert_eq!(history().await.unwrap().items.len(), 3);
        let took = start.elapsed();
        assert!(took >= delay && took < delay * 2, "a history took {took:?}");
        store.get("t", "", None).await.unwrap();
        let start = Instant::now();
        store.get("t", "", None).await.unwrap();
        let took = start.elapsed();
        assert!(took >= delay && took < delay * 2, "a checkpoint took {took:?}");
        proxy.delay(Duration::ZERO);
    });
}

#[test]
fn overtaken_records_are_no_conflict_if_they_were_stored() {
    if url().is_none() {
        return;
    }
    let (schema, proxy) = (Schema::new(), Proxy::start());
    runtime().block_on(async {
        let direct = schema.options().connect(url().unwrap()).await.unwrap();
        let store = schema.options().connect(&proxy.url).await.unwrap();
        run(&direct, "t").await;
        let loaded = direct.get("t", "", None).await.unwrap();
        let (fence, origin) = (loaded.fence, loaded.origin.unwrap());
        let batch = |fence| WriteBatch::new("t", origin.clone(), fence).epoch(fence.epoch + 1);
        let record = TaskRecord::new(RecordKey::new(0, RecordKind::Answer, "q"), Payload::json("true"));
        let records = BatchWrite::records(fence.head.unwrap(), Vec::new(), vec![record]);

        // Another writer takes the thread over before the records are sent again.
        let held = proxy.hold();
        proxy.cut(".commit(", Cut::After);
        let sent = batch(fence).writes(vec![records]);
        let overtake = async {
            let mut found = fence;
            while found.epoch == fence.epoch {
                found = direct.get("t", "", None).await.unwrap().fence;
            }
            direct.commit(batch(found)).await.unwrap();
            drop(held);
        };
        let (result, ()) = futures_util::future::join(store.commit(sent), overtake).await;
        assert!(proxy.has_cut());
        let error = result.unwrap_err();
        // A conflict would say that nothing was written.
        assert!(!matches!(error, CheckpointError::Conflict(_)) && error.is_transient(), "{error:?}");
        assert_eq!(direct.get("t", "", None).await.unwrap().found.unwrap().records.len(), 1);

        // A batch that was sent once is a conflict.
        let error = store.commit(batch(fence)).await.unwrap_err();
        assert!(matches!(error, CheckpointError::Conflict(_)), "{error:?}");
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
