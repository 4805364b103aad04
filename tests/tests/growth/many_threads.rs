//! Stores with many threads.

use superstep::checkpoint::{Prune, ThreadQuery};
use superstep::thread::PersistentGraph;

use super::chain::*;
use super::growth;
use super::measure::Sample;

/// A store with `n` finished threads.
pub(crate) async fn full(at: &Sample) -> PersistentGraph<Chain> {
    let graph = stored(at);
    for thread in 0..at.n {
        graph.thread(format!("{thread:06}")).run(Chain::input(0)).await.unwrap();
    }
    graph
}

growth! {
    new_threads: Stores, 100 => async |at| {
        at.cost(async { full(at).await }).await;
    };
    list_of_threads: Stores, 100 => async |at| {
        let graph = full(at).await;
        assert_eq!(at.cost(async { graph.threads(ThreadQuery::new()).await.unwrap() }).await.items.len(), at.n);
    };
    pages_of_threads: Stores, 100 => async |at| {
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
    prune_of_all_threads: Stores, 100 => async |at| {
        let graph = full(at).await;
        at.cost(async { graph.prune(Prune::new().keep_last(1)).await.unwrap() }).await;
    };
    deleted_threads: Stores, 100 => async |at| {
        let graph = full(at).await;
        at.cost(async {
            for thread in 0..at.n {
                assert!(graph.thread(format!("{thread:06}")).delete().await.unwrap());
            }
        })
        .await;
    };
}
