//! Agents whose run is dropped at each await point.

use std::future::Future as _;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Waker};

use superstep::Durability;
use superstep::checkpoint::MemoryCheckpointer;
use superstep::messages::{AiMessage, Message, MessagesState, Role, ToolCall};
use superstep::thread::Thread;
use superstep_agent::agent::Agent;
use superstep_agent::tool::Tools;
use superstep_agent::{ChatRequest, ScriptedModel, tool};
use tests::endpoint;

use crate::loops::{calls, transcript};

/// Yields a number of times.
#[tool]
async fn slow(times: u8) -> superstep::Result<u8> {
    for _ in 0..times {
        tokio::task::yield_now().await;
    }
    Ok(times)
}

/// Calls two tools, then finishes. Panics on a history that a strict endpoint would refuse.
fn answer(request: &ChatRequest) -> AiMessage {
    endpoint::strict(&request.messages).unwrap();
    endpoint::json::openai(&request.messages).unwrap();
    endpoint::json::anthropic(&request.messages).unwrap();
    if request.messages.last().map(Message::role) == Some(Role::Tool) {
        return AiMessage::new("done");
    }
    let call = |id: &str, times: u8| ToolCall::new(id, "slow").arg("times", times);
    calls([call("1", 9), call("2", 4)])
}

fn thread() -> Thread<MessagesState> {
    let model = (0..20).fold(ScriptedModel::new([]), |model, _| model.reply_with(answer));
    let agent = Agent::new(Arc::new(model)).tools(Tools::<MessagesState>::new().with(slow));
    agent.graph().unwrap().compile().unwrap().with_checkpointer(MemoryCheckpointer::new()).thread("t")
}

/// Polls one turn at most `polls` times, then drops it. Returns `true` if the turn had finished.
async fn drop_after(thread: &Thread<MessagesState>, polls: usize, durability: Durability) -> bool {
    let mut run = pin!(thread.run(MessagesState::input().messages("hello")).durability(durability));
    for _ in 0..polls {
        if run.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready() {
            return true;
        }
        tokio::task::yield_now().await;
    }
    false
}

const TURN: [&str; 5] = ["human: hello", "ai: ", "tool: 9", "tool: 4", "ai: done"];

#[tokio::test]
async fn dropped_run_resumes_to_the_same_transcript() {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        let mut resumed = 0;
        for polls in 0.. {
            let thread = thread();
            let ended = drop_after(&thread, polls, durability).await;
            if thread.state().await.unwrap().is_some() && !ended {
                thread.resume(()).await.unwrap();
                resumed += 1;
                let chat = thread.state().await.unwrap().unwrap().state.unwrap();
                assert_eq!(transcript(&chat.messages), TURN, "{durability:?} after {polls} polls");
            }
            if ended {
                break;
            }
        }
        assert!(resumed > 0 || durability == Durability::Exit, "{durability:?}");
    }
}

#[tokio::test]
async fn endpoints_accept_the_turn_after_a_dropped_run() {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        for polls in 0.. {
            let thread = thread();
            let ended = drop_after(&thread, polls, durability).await;
            let outcome =
                thread.run(MessagesState::input().messages("hello")).abandon_pending().await.unwrap();
            let chat = outcome.into_state();
            let transcript = transcript(&chat.messages);
            assert_eq!(transcript[transcript.len() - 5..], TURN, "{durability:?} after {polls} polls");
            endpoint::strict(&chat.messages).unwrap();
            if ended {
                break;
            }
        }
    }
}
