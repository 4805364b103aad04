//! An agent whose run is dropped, at each of its awaits.

use std::future::{Future as _, IntoFuture as _};
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

use crate::loops::{calls, said};

/// Takes its time.
#[tool]
async fn slow(times: u8) -> superstep::Result<u8> {
    for _ in 0..times {
        tokio::task::yield_now().await;
    }
    Ok(times)
}

/// Wants two tools called, and then says so; refuses what a strict endpoint does.
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

/// Runs a turn of it and drops that after so many polls; whether it had come to its end.
async fn cut_off(thread: &Thread<MessagesState>, polls: usize, durability: Durability) -> bool {
    let mut run =
        pin!(thread.run(MessagesState::input().messages("hello")).durability(durability).into_future());
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
async fn what_is_resumed_comes_to_the_same_end() {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        let mut resumed = 0;
        for polls in 0.. {
            let thread = thread();
            let ended = cut_off(&thread, polls, durability).await;
            if thread.state().await.unwrap().is_some() && !ended {
                thread.resume(()).await.unwrap();
                resumed += 1;
                let chat = thread.state().await.unwrap().unwrap().state.unwrap();
                assert_eq!(said(&chat.messages), TURN, "{durability:?} after {polls} polls");
            }
            if ended {
                break;
            }
        }
        assert!(resumed > 0 || durability == Durability::Exit, "{durability:?}");
    }
}

#[tokio::test]
async fn the_next_turn_is_one_that_endpoints_take() {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        for polls in 0.. {
            let thread = thread();
            let ended = cut_off(&thread, polls, durability).await;
            let outcome =
                thread.run(MessagesState::input().messages("hello")).abandon_pending().await.unwrap();
            let chat = outcome.into_state();
            let said = said(&chat.messages);
            assert_eq!(said[said.len() - 5..], TURN, "{durability:?} after {polls} polls");
            endpoint::strict(&chat.messages).unwrap();
            if ended {
                break;
            }
        }
    }
}
