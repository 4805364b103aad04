//! Tools with a human in the loop.

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

use crate::loops::{calls, transcript};

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

/// Deletes a file after approval.
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

fn delete_call(id: &str, file: &str) -> ToolCall {
    ToolCall::new(id, "delete").arg("file", file)
}

#[tokio::test]
async fn concurrent_tools_receive_their_own_answers() {
    for first_alone in [false, true] {
        let model = ScriptedModel::new([
            calls([delete_call("1", "a.txt"), ToolCall::new("2", "list"), delete_call("3", "b.txt")]),
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
        let interrupts = thread().interrupts().await.unwrap();
        let open = interrupts.all::<Delete>().unwrap();
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
            transcript(&outcome.state().messages)[2..],
            [
                "tool: the person does not want a.txt deleted",
                "tool: a.txt, b.txt",
                "tool: b.txt is gone",
                "ai: done",
            ]
        );
        // Neither the finished tool nor the model ran again.
        assert_eq!(disk.listed.load(Ordering::Relaxed), 1);
        assert_eq!(disk.deleted.load(Ordering::Relaxed), 1);
        assert_eq!(model.requests().len(), 2);
    }
}

#[tokio::test]
async fn manual_tool_result_keeps_finished_calls() {
    let model = ScriptedModel::new([
        calls([ToolCall::new("1", "list"), delete_call("2", "a.txt"), ToolCall::new("3", "list")]),
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
    let mut answers = transcript(&outcome.state().messages)[2..].to_vec();
    answers.sort_unstable();
    assert_eq!(answers, ["ai: done", "tool: I have done it", "tool: a.txt, b.txt", "tool: a.txt, b.txt"]);
}
