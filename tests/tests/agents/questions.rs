//! Tools that ask a person.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::{Deserialize, Serialize};
use superstep::checkpoint::MemoryCheckpointer;
use superstep::interrupt::Question;
use superstep::messages::{AiMessage, MessagesState, ToolCall, ToolMessage};
use superstep::thread::AsNode;
use superstep::{ContextWith, Graph, Outcome};
use superstep_agent::agent::Agent;
use superstep_agent::tool::Tools;
use superstep_agent::{ScriptedModel, tool};

use crate::loops::{calls, said};

#[derive(Serialize, Deserialize, Debug)]
struct Delete {
    file: String,
}

impl Question for Delete {
    type Answer = bool;
}

#[derive(Default)]
struct Disk {
    deleted: AtomicUsize,
    listed: AtomicUsize,
}

/// Deletes a file, if the person lets it.
#[tool]
async fn delete(file: String, disk: &ContextWith<Disk>) -> superstep::Result<String> {
    if !disk.interrupt(Delete { file: file.clone() }).await {
        superstep::bail!("the person does not want {file} deleted");
    }
    disk.step("delete", async {
        disk.context().deleted.fetch_add(1, Ordering::Relaxed);
        Ok::<_, superstep::NodeError>(())
    })
    .await?;
    Ok(format!("{file} is gone"))
}

/// Lists the files.
#[tool]
async fn list(disk: &ContextWith<Disk>) -> &'static str {
    disk.context().listed.fetch_add(1, Ordering::Relaxed);
    "a.txt, b.txt"
}

fn agent(model: &ScriptedModel) -> Graph<MessagesState, Disk> {
    let tools = Tools::new().with(delete).with(list);
    Agent::with_context(Arc::new(model.clone())).tools(tools).graph().unwrap().compile().unwrap()
}

fn gone(id: &str, file: &str) -> ToolCall {
    ToolCall::new(id, "delete").arg("file", file)
}

#[tokio::test]
async fn two_tools_that_ask_in_one_step_get_their_own_answers() {
    for first_alone in [false, true] {
        let model = ScriptedModel::new([
            calls([gone("1", "a.txt"), ToolCall::new("2", "list"), gone("3", "b.txt")]),
            AiMessage::new("done"),
        ]);
        let (store, disk) = (MemoryCheckpointer::new(), Arc::new(Disk::default()));
        let thread = || agent(&model).with_checkpointer(store.clone()).thread("t");
        let outcome = thread()
            .run(MessagesState::input().messages("clean up"))
            .context(Arc::clone(&disk))
            .await
            .unwrap();
        assert!(matches!(outcome, Outcome::Interrupted(_)));
        let pending = thread().interrupts().await.unwrap();
        let open = pending.all::<Delete>().unwrap();
        let files: Vec<_> = open.iter().map(|question| question.file.as_str()).collect();
        assert_eq!(files, ["a.txt", "b.txt"]);
        let [a, b] = <[_; 2]>::try_from(open).unwrap();
        let (no, yes) = (a.answer(false), b.answer(true));
        let outcome = if first_alone {
            let outcome = thread().resume(yes).context(Arc::clone(&disk)).await.unwrap();
            assert!(matches!(outcome, Outcome::Interrupted(_)));
            thread().resume(no).context(Arc::clone(&disk)).await.unwrap()
        } else {
            thread().resume([no, yes]).context(Arc::clone(&disk)).await.unwrap()
        };
        assert_eq!(
            said(&outcome.state().messages)[2..],
            [
                "tool: the person does not want a.txt deleted",
                "tool: a.txt, b.txt",
                "tool: b.txt is gone",
                "ai: done",
            ]
        );
        // Neither the tool that has finished nor the model was asked again.
        assert_eq!(disk.listed.load(Ordering::Relaxed), 1);
        assert_eq!(disk.deleted.load(Ordering::Relaxed), 1);
        assert_eq!(model.requests().len(), 2);
    }
}

#[tokio::test]
async fn a_call_that_is_answered_by_hand_takes_nothing_from_those_that_have_finished() {
    let model = ScriptedModel::new([
        calls([ToolCall::new("1", "list"), gone("2", "a.txt"), ToolCall::new("3", "list")]),
        AiMessage::new("done"),
    ]);
    let disk = Arc::new(Disk::default());
    let thread = agent(&model).with_checkpointer(MemoryCheckpointer::new()).thread("t");
    let outcome =
        thread.run(MessagesState::input().messages("clean up")).context(Arc::clone(&disk)).await.unwrap();
    assert!(matches!(outcome, Outcome::Interrupted(_)));
    let by_hand = MessagesState::update().messages(ToolMessage::new("2", "I have done it"));
    thread.update(by_hand, AsNode::named("tools")).context(Arc::clone(&disk)).await.unwrap();
    let outcome = thread.resume(()).context(disk).await.unwrap();
    let mut answers = said(&outcome.state().messages)[2..].to_vec();
    answers.sort_unstable();
    assert_eq!(answers, ["ai: done", "tool: I have done it", "tool: a.txt, b.txt", "tool: a.txt, b.txt"]);
}
