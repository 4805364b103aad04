//! Reading and continuing threads with a large plan or many results.

use superstep::thread::as_node;

use super::fan_out::*;
use super::growth;

growth! {
    state_of_planned_packets: Stores, 4_000 => async |at| {
        let thread = planned(at).await;
        let snapshot = at.cost(async { thread.state().await.unwrap().unwrap() }).await;
        assert_eq!(snapshot.tasks.len(), at.n);
    };
    history_with_planned_packets: Stores, 4_000 => async |at| {
        let thread = planned(at).await;
        at.cost(async { thread.history().await.unwrap() }).await;
    };
    picture_of_planned_packets: Stores, 4_000 => async |at| {
        let thread = planned(at).await;
        let _ = at.cost(async { thread.picture().await.unwrap() }).await;
    };
    interrupts_with_planned_packets: Stores, 4_000 => async |at| {
        let thread = planned(at).await;
        at.cost(async { thread.interrupts().await.unwrap() }).await;
    };
    resume_of_planned_packets: Both, 1_000 => async |at| {
        let thread = planned(at).await;
        at.cost(async { thread.resume(()).await.unwrap() }).await;
    };
    update_at_planned_packets: Stores, 4_000 => async |at| {
        let thread = planned(at).await;
        at.cost(async { thread.update(Fan::update(), as_node(ready::work)).await.unwrap() }).await;
    };
    unfinished_with_planned_packets: Stores, 4_000 => async |at| {
        let thread = planned(at).await;
        drop(thread);
        let graph = ready::stored(at);
        assert_eq!(at.cost(async { graph.unfinished().await.unwrap() }).await.len(), 1);
    };
    run_again_of_planned_packets: Both, 1_000 => async |at| {
        let thread = planned(at).await;
        let head = thread.state().await.unwrap().unwrap().id;
        at.cost(async { thread.at(head).run_again().await.unwrap() }).await;
    };
    state_of_finished_results: Stores, 2_000 => async |at| {
        let thread = half_finished(at).await;
        at.cost(async { thread.state().await.unwrap().unwrap() }).await;
    };
    resume_of_finished_results: Both, 2_000 => async |at| {
        let thread = half_finished(at).await;
        let outcome = at.cost(async { thread.resume(()).await.unwrap() }).await;
        assert_eq!(outcome.state().done.len(), at.n);
    };
    update_at_finished_results: Stores, 2_000 => async |at| {
        let thread = half_finished(at).await;
        at.cost(async { thread.update(Fan::update(), as_node(failing::work)).await.unwrap() }).await;
    };
}
