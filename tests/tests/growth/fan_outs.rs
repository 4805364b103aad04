//! Supersteps of many tasks: in memory, stored, failing, sleeping and with listeners.

use std::time::{Duration, SystemTime};

use superstep::run::Stop;
use superstep::{Durability, FailureMode, StreamMode};

use super::fan_out::*;
use super::growth;

growth! {
    fan_out_of_ready_tasks: Runtimes, 4_000 => async |at| {
        at.cost(async { ready::graph().run(Fan::input(at.n)).await.unwrap() }).await;
    };
    fan_out_of_waiting_tasks: Runtimes, 4_000 => async |at| {
        at.cost(async { yielding::graph().run(Fan::input(at.n)).await.unwrap() }).await;
    };
    fan_out_with_limited_concurrency: Runtimes, 4_000 => async |at| {
        at.cost(async { yielding::graph().run(Fan::input(at.n)).max_concurrency(8).await.unwrap() }).await;
    };
    fan_out_that_can_be_stopped: Runtimes, 4_000 => async |at| {
        let stop = Stop::new();
        at.cost(async { yielding::graph().run(Fan::input(at.n)).stop_by(&stop).await.unwrap() }).await;
    };
    fan_out_with_superstep_timeout: Runtimes, 4_000 => async |at| {
        let limit = Duration::from_secs(600);
        at.cost(async { yielding::graph().run(Fan::input(at.n)).superstep_timeout(limit).await.unwrap() }).await;
    };
    fan_out_of_failing_tasks: Runtimes, 4_000 => async |at| {
        let run = all_failing::graph().run(Fan::input(at.n)).on_failure(FailureMode::Collect);
        at.cost(async { run.await.unwrap_err() }).await;
    };
    fan_out_of_asking_tasks: Runtimes, 2_000 => async |at| {
        at.cost(async { asking::graph().run(Fan::input(at.n)).await.unwrap() }).await;
    };
    stored_fan_out_of_ready_tasks: Both, 2_000 => async |at| {
        at.cost(async { ready::stored(at).thread("t").run(Fan::input(at.n)).await.unwrap() }).await;
    };
    stored_fan_out_of_waiting_tasks: Both, 2_000 => async |at| {
        at.cost(async { yielding::stored(at).thread("t").run(Fan::input(at.n)).await.unwrap() }).await;
    };
    fan_out_stored_at_exit: Both, 4_000 => async |at| {
        let run = ready::stored(at).thread("t").run(Fan::input(at.n)).durability(Durability::Exit);
        at.cost(async { run.await.unwrap() }).await;
    };
    stored_fan_out_of_failing_tasks: Both, 2_000 => async |at| {
        let run = all_failing::stored(at).thread("t").run(Fan::input(at.n)).on_failure(FailureMode::Collect);
        at.cost(async { run.await.unwrap_err() }).await;
    };
    stored_fan_out_of_asking_tasks: Both, 2_000 => async |at| {
        at.cost(async { asking::stored(at).thread("t").run(Fan::input(at.n)).await.unwrap() }).await;
    };
    stored_fan_out_of_durable_steps: Both, 1_000 => async |at| {
        at.cost(async { stepping::stored(at).thread("t").run(Fan::input(at.n)).await.unwrap() }).await;
    };
    stored_fan_out_of_suspended_sleeps: Both, 1_000 => async |at| {
        let run = sleeping::stored(at).thread("t").run(Fan::input(at.n));
        let run = run.suspend_sleeps_longer_than(Duration::ZERO);
        at.cost(async { run.await.unwrap() }).await;
    };
    stored_fan_out_of_awaited_sleeps: Both, 1_000 => async |at| {
        at.cost(async { napping::stored(at).thread("t").run(Fan::input(at.n)).await.unwrap() }).await;
    };
    dropped_stored_fan_out: Both, 2_000 => async |at| {
        let thread = sleeping::stored(at).thread("t");
        let run = thread.run(Fan::input(at.n));
        at.cost(async { tokio::time::timeout(Duration::from_millis(200), run).await.unwrap_err() }).await;
    };
    due_of_sleeping_fan_out: Stores, 1_000 => async |at| {
        let graph = sleeping::stored(at);
        let run = graph.thread("t").run(Fan::input(at.n));
        run.suspend_sleeps_longer_than(Duration::ZERO).await.unwrap();
        let later = SystemTime::now() + Duration::from_secs(7_200);
        assert_eq!(at.cost(async { graph.due(later).await.unwrap() }).await.len(), 1);
    };
    events_of_a_fan_out: Runtimes, 1_000 => async |at| {
        let modes = [StreamMode::Custom, StreamMode::Messages, StreamMode::Tasks, StreamMode::Updates];
        let stream = emitting::graph().run(Fan::input(at.n)).events(modes).stream();
        at.cost(async { stream.for_each(|_| ()).await.unwrap() }).await;
    };
    events_of_a_fan_out_with_a_slow_listener: Runtimes, 1_000 => async |at| {
        let modes = [StreamMode::Custom, StreamMode::Messages];
        let mut stream = emitting::graph().run(Fan::input(at.n)).events(modes).stream();
        at.cost(async {
            while let Some(event) = stream.next().await {
                event.unwrap();
                tokio::task::yield_now().await;
            }
        })
        .await;
    };
    events_of_a_stored_fan_out: Both, 1_000 => async |at| {
        let modes = [StreamMode::Custom, StreamMode::Tasks, StreamMode::Checkpoints];
        let stream = emitting::stored(at).thread("t").run(Fan::input(at.n)).events(modes).stream();
        at.cost(async { stream.for_each(|_| ()).await.unwrap() }).await;
    };
    first_half_of_a_fan_out_runs_again: Runtimes, 8_000 => async |at| {
        let run = half_failing::graph().run(Fan::input(at.n)).on_failure(FailureMode::Collect);
        let mut run = run.start().unwrap();
        while run.step().await.is_ok() {}
        assert_eq!(at.cost(run.finish()).await.unwrap().state().done.len(), at.n);
    };
}
