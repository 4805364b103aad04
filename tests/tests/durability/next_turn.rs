//! A conversation turn that is cancelled anywhere, and the next turn: the endpoint accepts its request.

use std::collections::BTreeSet;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::Poll;

use superstep::checkpoint::{BatchWrite, Checkpointer, MemoryCheckpointer};
use superstep::messages::{AiMessage, Message, ToolCall, ToolMessage, messages_sanity};
use superstep::thread::{PersistentGraph, Thread};
use superstep::{Durability, END, ErrorKind, GraphState, Outcome, Route, START, StateGraph};
use superstep_sqlite::{SqliteCheckpointer, Synchronous};
use tests::endpoint::{self, Refusal};

use crate::instrumented_store::{InstrumentedStore, stay_pending};
use crate::journal::Journal;

#[derive(GraphState, Clone, Debug, PartialEq)]
struct Chat {
    #[state(input, reducer = add_messages)]
    messages: Vec<Message>,
}

#[derive(Route)]
enum Then {
    #[to(clock)]
    Clock,
    #[to(weather)]
    Weather,
    #[to(END)]
    Answered,
}

/// The provider: it refuses a misordered history, calls both tools twice, and then answers. Its call ids start again
/// in each reply, as with some servers.
fn complete(history: &[Message]) -> Result<AiMessage, Refusal> {
    endpoint::strict(history)?;
    let asked = history.iter().rposition(|message| matches!(message, Message::Human(_)));
    let rounds = history[asked.unwrap_or(0)..].iter().filter(|message| message.as_ai().is_some()).count();
    Ok(match rounds {
        0 | 1 => {
            AiMessage::new("").call(ToolCall::new("call_0", "clock")).call(ToolCall::new("call_1", "weather"))
        }
        _ => AiMessage::new(format!("answered: {}", history[asked.unwrap_or(0)].text())),
    })
}

async fn model(chat: &Chat) -> superstep::Result<(ChatUpdate, Vec<Then>)> {
    stay_pending(1).await;
    let reply = complete(&chat.messages)?;
    stay_pending(1).await;
    let then = if reply.has_calls() { vec![Then::Clock, Then::Weather] } else { vec![Then::Answered] };
    Ok((Chat::update().messages(reply), then))
}

async fn clock(_: &Chat) -> ChatUpdate {
    stay_pending(1).await;
    Chat::update().messages(ToolMessage::new("call_0", "12:00").name("clock"))
}

/// Finishes after `clock`, and its message follows a superstep later. A cancelled run thus leaves one of two answers.
async fn weather(_: &Chat) {
    stay_pending(2).await;
}

async fn report(_: &Chat) -> ChatUpdate {
    stay_pending(1).await;
    Chat::update().messages(ToolMessage::new("call_1", "rain").name("weather"))
}

/// Builds the graph with `messages_sanity`, or with a node that does nothing instead.
fn graph(store: impl Checkpointer, repairs: bool) -> PersistentGraph<Chat> {
    async fn nothing(_: &Chat) {}
    let graph = StateGraph::<Chat>::new();
    let graph = match repairs {
        true => graph.edge(START, messages_sanity).edge(messages_sanity, model),
        false => graph.edge(START, nothing).edge(nothing, model),
    };
    let graph = graph.edge(weather, report).join((clock, report), model).compile().unwrap();
    graph.with_checkpointer(store).abandon_pending()
}

/// The result of two turns, of which the first was cancelled.
#[derive(Debug)]
struct Turns {
    ended: bool,
    refusal: Option<Refusal>,
}

async fn cancelled_after(
    store: impl Checkpointer,
    polls: u32,
    durability: Durability,
    repairs: bool,
) -> Turns {
    let about = format!("{polls} polls, {durability:?}");
    let thread = graph(store, repairs).thread("chat");
    let mut run = thread.run(Chat::input().messages("first")).durability(durability);
    let mut polled = 0;
    let ended = poll_fn(|cx| {
        if polled == polls {
            return Poll::Ready(false);
        }
        polled += 1;
        match Pin::new(&mut run).poll(cx) {
            Poll::Ready(outcome) => {
                assert_eq!(outcome.unwrap().state().messages.last().unwrap().text(), "answered: first");
                Poll::Ready(true)
            }
            Poll::Pending if polled == polls => Poll::Ready(false),
            Poll::Pending => Poll::Pending,
        }
    })
    .await;
    drop(run);
    let left = stored_messages(&thread).await;

    let second = thread.run(Chat::input().messages("second")).durability(durability).await;
    let refusal = match second {
        Ok(outcome) => {
            assert_history_is_kept(&left, outcome, &about);
            None
        }
        Err(error) => match error.kind() {
            ErrorKind::Node { first: failure, .. } => {
                let refusal = failure.error.downcast_ref::<Refusal>();
                Some(refusal.unwrap_or_else(|| panic!("{about}: {error:?}")).clone())
            }
            _ => panic!("{about}: {error:?}"),
        },
    };
    Turns { ended, refusal }
}

async fn stored_messages(thread: &Thread<Chat>) -> Vec<Message> {
    let snapshot = thread.state().await.unwrap();
    snapshot.and_then(|snapshot| snapshot.state).map_or_else(Vec::new, |chat| chat.messages)
}

fn assert_history_is_kept(left: &[Message], outcome: Outcome<Chat>, about: &str) {
    let history = outcome.into_state().messages;
    assert_eq!(history.last().unwrap().text(), "answered: second", "{about}");
    for message in left {
        assert!(history.contains(message), "{about}: {message:?} is kept");
    }
}

/// Returns all refusals of the second turn.
async fn refusals(repairs: bool) -> BTreeSet<String> {
    let mut refusals = BTreeSet::new();
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        for slow in [0, 1, 3] {
            let mut polls = 0;
            loop {
                let mut store = InstrumentedStore::new(MemoryCheckpointer::new(), Journal::in_memory().0);
                store.slow = slow;
                let turns = cancelled_after(store, polls, durability, repairs).await;
                refusals.extend(turns.refusal.map(|refusal| refusal.text));
                if turns.ended {
                    break;
                }
                polls += 1;
                assert!(polls < 10_000, "the run has no end");
            }
            assert!(polls > 0);
        }
    }
    refusals
}

async fn check_every_poll() {
    assert_eq!(refusals(true).await, BTreeSet::new());
    // Without the node, histories with no answered call or one answered call remain, in both rounds.
    let without = refusals(false).await;
    for open in
        ["messages.2: {\"call_0\", \"call_1\"}", "messages.3: {\"call_1\"}", "messages.5: ", "messages.6: "]
    {
        assert!(without.iter().any(|refusal| refusal.starts_with(open)), "{open} in {without:#?}");
    }
}

#[tokio::test]
async fn turn_after_a_cancelled_one_is_accepted() {
    check_every_poll().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn turn_after_a_cancelled_one_is_accepted_on_several_threads() {
    check_every_poll().await;
}

#[tokio::test]
async fn turn_after_a_cancelled_one_is_accepted_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    let mut polls = 0;
    loop {
        let path = folder.path().join(format!("{polls}.db"));
        let store = SqliteCheckpointer::options().synchronous(Synchronous::Normal).open(path).unwrap();
        let turns = cancelled_after(store, polls, Durability::Async, true).await;
        assert_eq!(turns.refusal, None, "{polls} polls");
        if turns.ended {
            break;
        }
        polls += 1;
    }
}

/// If nothing has to be repaired, the node stores no changes.
#[tokio::test]
async fn ordered_history_is_not_stored_again() {
    let batches = Arc::new(Mutex::new(Vec::new()));
    let mut store = InstrumentedStore::new(MemoryCheckpointer::new(), Journal::in_memory().0);
    store.batches = Some(Arc::clone(&batches));
    let thread = graph(store, true).thread("chat");
    thread.run(Chat::input().messages("first")).await.unwrap();
    thread.run(Chat::input().messages("second")).await.unwrap();
    let writes: Vec<_> = batches.lock().unwrap().iter().flat_map(|batch| batch.writes.clone()).collect();
    let checkpoints: Vec<_> = writes
        .into_iter()
        .filter_map(|write| match write {
            BatchWrite::Checkpoint(new) => Some(new),
            BatchWrite::Records { .. } | BatchWrite::RollBack { .. } => None,
        })
        .collect();
    let is_at = |node: &str, at: usize| checkpoints[at].checkpoint.next.iter().any(|next| &**next == node);
    let after: Vec<_> = (1..checkpoints.len()).filter(|at| is_at("messages_sanity", at - 1)).collect();
    assert_eq!(after.len(), 2);
    for at in after {
        assert!(is_at("model", at));
        assert_eq!(checkpoints[at].changes, []);
    }
}
