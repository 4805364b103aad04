//! Pending tasks and open interrupts: snapshots, pictures and errors tell them apart.

use serde::{Deserialize, Serialize};
use superstep::interrupt::Question;
use superstep::thread::{TaskStatus, ThreadStatus};
use superstep::{ContextWith, END, ErrorKind, FailureMode, NodeError, START};

use super::stores::on_every_store;
use super::story::{Probe, Story, StoryUpdate, begin, enter, recording_nodes, say, story};

recording_nodes! { one two last }

#[derive(Serialize, Deserialize)]
struct Go;

impl Question for Go {
    type Answer = bool;
}

async fn ask(_: &Story, cx: &ContextWith<Probe>) -> Result<StoryUpdate, NodeError> {
    let yes = cx.interrupt(Go).await;
    enter(cx, "ask").await?;
    Ok(say(format!("ask {yes}")))
}

#[tokio::test]
async fn finished_waiting_and_failed_tasks_differ() {
    let graph = story().edge(START, (one, ask, two)).join((one, ask, two), last).edge(last, END);
    let graph = graph.compile().unwrap();
    on_every_store(async |store| {
        let probe = Probe::default();
        probe.set_failing(&["two"]);
        let thread = store.thread(&graph);
        thread.run(begin("in")).on_failure(FailureMode::Collect).context(probe).await.unwrap_err();

        let now = thread.state().await.unwrap().unwrap();
        let status: Vec<TaskStatus> = now.tasks.iter().map(|task| task.status()).collect();
        assert_eq!(status, [TaskStatus::Finished, TaskStatus::WaitingForAnswer, TaskStatus::Failed]);
        let names = |tasks: Vec<&str>| tasks.join(" ");
        assert_eq!(names(now.next.iter().map(|node| &**node).collect()), "one ask two");
        assert_eq!(names(now.pending().map(|task| &*task.node).collect()), "ask two");
        assert_eq!(names(now.interrupts().map(|open| &*open.node).collect()), "ask");
        let json = serde_json::to_value(&now).unwrap();
        let status = json["tasks"].as_array().unwrap().iter().map(|task| task["status"].as_str().unwrap());
        assert_eq!(names(status.collect()), "finished waiting_for_answer failed");

        let picture = thread.picture().await.unwrap();
        let (mermaid, dot, svg) = (picture.to_mermaid().unwrap(), picture.to_dot().unwrap(), picture.to_svg().unwrap());
        for (id, label) in [("n0", "\u{2713} one"), ("n1", "? ask"), ("n2", "! two"), ("n3", "last")] {
            assert!(mermaid.contains(&format!("{id}[\"{label}\"]")), "{mermaid}");
            assert!(dot.contains(&format!("{id} [label=\"{label}\"")), "{dot}");
            assert!(svg.contains(&format!(">{label}</text>")), "{svg}");
        }

        let refused = thread.run(begin("new")).context(Probe::default()).await.unwrap_err();
        assert_eq!(
            refused.to_string(),
            "graph `Story`: thread `t` still has pending tasks (`ask` and `two`; `ask` waits for the answer to `Go`): \
             continue it with `resume(..)`, or discard them with `run(input).abandon_pending()`"
        );
        let ErrorKind::PendingTasks { superstep, .. } = refused.kind() else { panic!("{refused}") };
        assert_eq!(superstep.finished.join(" "), "one");
        let open = thread.interrupts().await.unwrap().only::<Go>().unwrap();
        assert_eq!(superstep.waiting[0].id, now.interrupts().next().unwrap().id);

        // After the failure is repaired, only the answer is missing.
        thread.resume(()).context(Probe::default()).await.unwrap();
        let now = thread.state().await.unwrap().unwrap();
        assert_eq!(names(now.pending().map(|task| &*task.node).collect()), "ask");
        let mut left = graph.with_checkpointer(store.open()).unfinished().await.unwrap();
        let ThreadStatus::WaitingForAnswer(questions) = left.pop().unwrap().status else { panic!() };
        assert_eq!(questions.len(), 1);
        thread.resume(open.answer(true)).context(Probe::default()).await.unwrap();
        assert_eq!(thread.state().await.unwrap().unwrap().pending().count(), 0);
    })
    .await;
}

#[tokio::test]
async fn refused_superstep_has_no_pending_task() {
    async fn left(_: &Story) -> StoryUpdate {
        Story::update().value(1)
    }
    async fn right(_: &Story) -> StoryUpdate {
        Story::update().value(2)
    }
    let graph = story().edge(START, (left, right)).edge(left, END).edge(right, END).compile().unwrap();
    on_every_store(async |store| {
        let thread = store.thread(&graph);
        thread.run(begin("in")).context(Probe::default()).await.unwrap_err();
        assert_eq!(thread.state().await.unwrap().unwrap().pending().count(), 0);
        let refused = thread.run(begin("new")).context(Probe::default()).await.unwrap_err();
        assert_eq!(
            refused.to_string(),
            "graph `Story`: thread `t` has results that are not applied yet (`left` and `right`): apply them with \
             `resume(..)`, or discard them with `run(input).abandon_pending()`"
        );
    })
    .await;
}
