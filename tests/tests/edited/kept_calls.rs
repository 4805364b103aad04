//! Updates that keep the plan while a subgraph call is under way.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use superstep::interrupt::Question;
use superstep::subgraph::CallResult;
use superstep::thread::{TaskStatus, keep_plan};
use superstep::{ContextWith, END, Graph, NodeError, Outcome, START};

use tests::stores::on_every_store;
use tests::story::{Probe, Story, StoryUpdate, begin, enter, log_of, next, recording_nodes, say, story};

recording_nodes! { open close print }

#[derive(Serialize, Deserialize, Debug)]
struct Go;

impl Question for Go {
    type Answer = bool;
}

async fn ask(story: &Story, cx: &ContextWith<Probe>) -> Result<StoryUpdate, NodeError> {
    let yes = cx.interrupt(Go).await;
    enter(cx, "ask").await?;
    Ok(say(format!("({} {yes})", story.log.join("+"))))
}

fn inner() -> Graph<Story, Probe> {
    story().edge(START, open).edge(open, ask).edge(ask, close).edge(close, END).compile().unwrap()
}

#[tokio::test]
async fn call_continues_on_the_edited_state() {
    let shared = inner().as_node("shared");
    let graph = story().edge(START, &shared).edge(&shared, print).edge(print, END).compile().unwrap();
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        let thread = store.thread(&graph);
        thread.run(begin("in")).context(Arc::clone(&probe)).await.unwrap();
        let go = thread.interrupts().await.unwrap().only::<Go>().unwrap();
        probe.ran();

        thread.update(say("edited"), keep_plan()).context(Arc::clone(&probe)).await.unwrap();
        let head = thread.state().await.unwrap().unwrap();
        let call = thread.within(&shared).state().await.unwrap().unwrap();
        assert_eq!((next(&call).as_str(), call.tasks[0].status()), ("ask", TaskStatus::WaitingForAnswer));
        assert_eq!(call.parents.get(""), Some(&head.id), "the call belongs to the new checkpoint");
        assert_eq!(log_of(call.state.as_ref().unwrap()), "in edited open");
        assert!(thread.picture().await.unwrap().to_svg().unwrap().contains("ask"));

        // The call itself can be edited as well.
        let call = store.thread(&graph).within(&shared);
        call.update(say("inside"), keep_plan()).context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(thread.interrupts().await.unwrap().interrupts().len(), 1);
        let shown = call.state().await.unwrap().unwrap();
        assert_eq!(shown.tasks[0].status(), TaskStatus::WaitingForAnswer);
        thread.update(say("again"), keep_plan()).context(Arc::clone(&probe)).await.unwrap();

        let outcome = store.thread(&graph).resume(go.answer(true)).context(Arc::clone(&probe)).await.unwrap();
        let log = "in edited again open inside (in+edited+again+open+inside true) close print";
        assert_eq!((log_of(outcome.state()).as_str(), probe.ran().as_str()), (log, "ask close print"));

        // The checkpoints that the call wrote after the edit show the state that it read.
        let history = call.history().await.unwrap();
        let shown: Vec<_> = history.iter().map(|at| log_of(at.state.as_ref().unwrap())).collect();
        assert!(shown[0].starts_with("in edited again open inside"), "{shown:?}");
        // A replay from there begins at the edited state.
        let asked = history.iter().find(|at| next(at) == "close").unwrap();
        let again = call.at(asked.id).run_again().context(Arc::clone(&probe)).await.unwrap();
        assert_eq!((log_of(again.state()).as_str(), probe.ran().as_str()), (log, "close print"));
    })
    .await;
}

#[tokio::test]
async fn call_that_keeps_its_state_stays_on_the_branch() {
    let input = |_: &Story| begin("call");
    let output = |_: CallResult<Story>| say("called");
    let kept = inner().as_node("kept").mapped(input, output).per_thread();
    let graph = story().edge(START, &kept).edge(&kept, print).edge(print, END).compile().unwrap();
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        let thread = store.thread(&graph);
        for round in 0..3 {
            let outcome = thread.run(begin("in")).context(Arc::clone(&probe)).await.unwrap();
            assert!(matches!(outcome, Outcome::Interrupted(_)), "round {round}");
            thread.update(say("edited"), keep_plan()).context(Arc::clone(&probe)).await.unwrap();
            let go = thread.interrupts().await.unwrap().only::<Go>().unwrap();
            thread.resume(go.answer(true)).context(Arc::clone(&probe)).await.unwrap();
            let call = thread.within(&kept).state().await.unwrap().unwrap();
            let log = call.state.unwrap().log;
            assert_eq!(log.iter().filter(|entry| *entry == "close").count(), round + 1, "{log:?}");
            // An edit of the finished thread, between two calls.
            thread.update(say("between"), keep_plan()).context(Arc::clone(&probe)).await.unwrap();
        }
    })
    .await;
}
