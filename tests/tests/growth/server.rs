//! The store on a server: threads, histories and lists. Sizes are smaller than in a file, because each call is a round trip.

use superstep::START;
use superstep::checkpoint::{CheckpointQuery, Checkpointer as _, Prune, ThreadQuery};
use superstep::thread::as_node;

use super::chain::*;
use super::growth;
use super::many_threads::full;

growth! {
    commits_on_a_server: Server, 300 => async |at| {
        let thread = stored(at).thread("t");
        thread.update(Chain::update().length(1), as_node(START)).await.unwrap();
        at.cost(async {
            for line in 0..at.n {
                thread.update(Chain::update().lines([line]), as_node(START)).await.unwrap();
            }
        })
        .await;
    };
    supersteps_on_a_server: Server, 1_000 => async |at| {
        at.cost(async { long(at).await }).await;
    };
    state_on_a_server: Server, 4_000 => async |at| {
        let thread = long(at).await;
        // The first call on a connection makes the plans of its statements.
        thread.state().await.unwrap();
        at.cost(async {
            for _ in 0..10 {
                thread.state().await.unwrap();
            }
        })
        .await;
    };
    early_state_on_a_server: Server, 1_000 => async |at| {
        let thread = long(at).await;
        let query = CheckpointQuery::new(thread.name()).oldest_first(true).limit(3);
        let early = at.store().list(query).await.unwrap().items[2].id;
        thread.at(early).state().await.unwrap();
        at.cost(async {
            for _ in 0..20 {
                thread.at(early).state().await.unwrap();
            }
        })
        .await;
    };
    history_on_a_server: Server, 490 => async |at| {
        let thread = long(at).await;
        let query = CheckpointQuery::new(thread.name());
        at.store().history(query.clone().limit(2)).await.unwrap();
        at.cost(async {
            for _ in 0..5 {
                // A page has at most a thousand checkpoints.
                let page = at.store().history(query.clone()).await.unwrap();
                assert_eq!(page.items.len(), at.n + 2);
            }
        })
        .await;
    };
    list_of_threads_on_a_server: Server, 300 => async |at| {
        let graph = full(at).await;
        graph.threads(ThreadQuery::new().limit(1)).await.unwrap();
        let listed = at.cost(async { graph.threads(ThreadQuery::new()).await.unwrap() }).await;
        assert_eq!(listed.items.len(), at.n);
    };
    pages_of_threads_on_a_server: Server, 100 => async |at| {
        let graph = full(at).await;
        at.cost(async {
            let mut query = ThreadQuery::new().limit(10);
            loop {
                let page = graph.threads(query.clone()).await.unwrap();
                match page.items.last().filter(|_| page.more) {
                    Some(last) => query = query.after(last.thread.clone()),
                    None => break,
                }
            }
        })
        .await;
    };
    copies_on_a_server: Server, 100 => async |at| {
        let graph = stored(at);
        graph.thread("t").run(Chain::input(5)).await.unwrap();
        at.cost(async {
            for copy in 0..at.n {
                graph.thread("t").copy(format!("{copy:06}")).await.unwrap();
            }
        })
        .await;
    };
    deletions_on_a_server: Server, 100 => async |at| {
        let graph = full(at).await;
        at.cost(async {
            for thread in 0..at.n {
                assert!(graph.thread(format!("{thread:06}")).delete().await.unwrap());
            }
        })
        .await;
    };
    prune_on_a_server: Server, 1_000 => async |at| {
        let thread = long(at).await;
        let prune = Prune::new().thread(thread.name()).keep_last(1);
        let pruned = at.cost(async { stored(at).prune(prune).await.unwrap() }).await;
        assert_eq!(pruned.checkpoints, at.n as u64 + 1);
    };
}
