//! Threads with many checkpoints, runs or branches.

use superstep::START;
use superstep::checkpoint::{
    BatchWrite, CheckpointQuery, CheckpointSource, Checkpointer as _, Prune, WriteBatch,
};
use superstep::thread::as_node;

use super::chain::*;
use super::growth;

growth! {
    supersteps: Runtimes, 4_000 => async |at| {
        let limit = at.n as u64;
        at.cost(async { graph().run(Chain::input(at.n)).recursion_limit(limit).await.unwrap() }).await;
    };
    stored_supersteps: Both, 500 => async |at| {
        at.cost(async { long(at).await }).await;
    };
    runs_of_a_thread: Stores, 100 => async |at| {
        at.cost(async { many_runs(at).await }).await;
    };
    state_after_many_supersteps: Stores, 2_000 => async |at| {
        let thread = long(at).await;
        at.cost(async { thread.state().await.unwrap() }).await;
    };
    pages_of_a_history: Stores, 200 => async |at| {
        let thread = long(at).await;
        let mut history = thread.history();
        at.cost(async { while !history.next_page().await.unwrap().is_empty() {} }).await;
    };
    values_in_a_history: Stores, 200 => async |at| {
        // Each superstep replaces a value and adds one line, so the states are of the same size.
        let thread = filled(at).await;
        at.cost(async { thread.history().await.unwrap() }).await;
    };
    history_of_a_source: Stores, 2_000 => async |at| {
        let thread = long(at).await;
        let history = thread.history().source(CheckpointSource::Input);
        assert_eq!(at.cost(async { history.await.unwrap() }).await.len(), 1);
    };
    history_of_a_run: Stores, 100 => async |at| {
        let thread = many_runs(at).await;
        let history = thread.history().run_id("0");
        at.cost(async { history.await.unwrap() }).await;
    };
    repeated_run_id: Stores, 100 => async |at| {
        let thread = many_runs(at).await;
        at.cost(async { thread.run(Chain::input(0)).run_id("0").await.unwrap() }).await;
    };
    repeated_request: Stores, 100 => async |at| {
        let thread = stored(at).thread("t");
        let first = || thread.update(Chain::update().length(0).lines([0]), as_node(START)).idempotency_key("k");
        let id = first().await.unwrap();
        thread.resume(()).idempotency_key("r").await.unwrap();
        many_runs(at).await;
        at.cost(async {
            for _ in 0..20 {
                assert_eq!(first().await.unwrap(), id);
                thread.resume(()).idempotency_key("r").await.unwrap();
            }
        })
        .await;
    };
    next_run_of_a_long_thread: Stores, 2_000 => async |at| {
        let thread = long(at).await;
        at.cost(async { thread.run(Chain::input(0)).await.unwrap() }).await;
    };
    replay_of_an_old_checkpoint: Stores, 2_000 => async |at| {
        let thread = long(at).await;
        let old = thread.history().limit(2).await.unwrap()[1].id;
        at.cost(async { thread.at(old).run_again().recursion_limit(u64::MAX).await.unwrap() }).await;
    };
    update_of_a_long_thread: Stores, 2_000 => async |at| {
        let thread = long(at).await;
        at.cost(async { thread.update(Chain::update().count(1_usize), None).await.unwrap_err() }).await;
        at.cost(async { thread.update(Chain::update().count(1_usize), as_node(START)).await.unwrap() }).await;
    };
    roll_back_of_a_long_thread: Stores, 2_000 => async |at| {
        let thread = long(at).await;
        let first = thread.history().source(CheckpointSource::Input).await.unwrap()[0].id;
        at.cost(async { thread.roll_back_to(first).await.unwrap() }).await;
    };
    roll_back_of_one_superstep: Stores, 2_000 => async |at| {
        let thread = long(at).await;
        let last = thread.history().limit(2).await.unwrap()[1].id;
        at.cost(async { thread.roll_back_to(last).await.unwrap() }).await;
    };
    branches_of_one_checkpoint: Stores, 100 => async |at| {
        at.cost(async { branched(at).await }).await;
    };
    branches_of_branches: Stores, 100 => async |at| {
        let thread = stored(at).thread("t");
        at.cost(async {
            let mut tip = thread.update(Chain::update().length(1), as_node(START)).await.unwrap();
            for _ in 0..at.n {
                let next = thread.at(tip).update(Chain::update().count(1_usize), as_node(START)).await.unwrap();
                thread.at(tip).update(Chain::update().count(2_usize), as_node(START)).await.unwrap();
                tip = next;
            }
        })
        .await;
    };
    history_of_branches: Stores, 100 => async |at| {
        let thread = branched(at).await;
        at.cost(async { thread.history().await.unwrap() }).await;
    };
    history_in_one_call: Stores, 240 => async |at| {
        let thread = long(at).await;
        let query = CheckpointQuery::new(thread.name());
        let page = at.cost(async { at.store().history(query).await.unwrap() }).await;
        assert_eq!(page.items.len(), at.n + 2);
    };
    rolled_back_supersteps: Stores, 2_000 => async |at| {
        let thread = long(at).await;
        let loaded = at.store().get(thread.name(), "", None).await.unwrap();
        let batch = WriteBatch::new(thread.name(), loaded.origin.unwrap(), loaded.fence)
            .writes(vec![BatchWrite::roll_back("", None)]);
        at.cost(async { at.store().commit(batch).await.unwrap() }).await;
    };
    pruned_supersteps: Stores, 2_000 => async |at| {
        let thread = long(at).await;
        let prune = Prune::new().thread(thread.name()).keep_last(1);
        let pruned = at.cost(async { stored(at).prune(prune).await.unwrap() }).await;
        assert_eq!(pruned.checkpoints, at.n as u64 + 1);
    };
    pruned_runs: Stores, 100 => async |at| {
        many_runs(at).await;
        at.cost(async { stored(at).prune(Prune::new().keep_last(2)).await.unwrap() }).await;
    };
    pruned_branches: Stores, 100 => async |at| {
        branched(at).await;
        at.cost(async { stored(at).prune(Prune::new().keep_last(2)).await.unwrap() }).await;
    };
    copied_thread: Stores, 2_000 => async |at| {
        let thread = long(at).await;
        at.cost(async { thread.copy("copy").await.unwrap() }).await;
    };
    deleted_thread: Stores, 2_000 => async |at| {
        let thread = long(at).await;
        assert!(at.cost(async { thread.delete().await.unwrap() }).await);
    };
    supersteps_of_a_bulk_update: Stores, 500 => async |at| {
        let thread = stored(at).thread("t");
        let supersteps = (0..at.n).map(|line| [(Chain::update().length(1).lines([line]), as_node(START))]);
        at.cost(async { thread.bulk_update(supersteps).await.unwrap() }).await;
    };
    updates_of_one_superstep: Stores, 1_000 => async |at| {
        let thread = stored(at).thread("t");
        thread.update(Chain::update().length(1), as_node(START)).await.unwrap();
        let updates = (0..at.n).map(|line| (Chain::update().lines([line]), as_node(START)));
        at.cost(async { thread.bulk_update([updates]).await.unwrap() }).await;
    };
    first_updates_of_a_thread: Stores, 1_000 => async |at| {
        let thread = stored(at).thread("t");
        let first = [(Chain::update().length(1).lines([0]), as_node(START))].into_iter();
        let updates = first.chain((1..at.n).map(|line| (Chain::update().lines([line]), as_node(START))));
        at.cost(async { thread.bulk_update([updates]).await.unwrap() }).await;
    };
}
