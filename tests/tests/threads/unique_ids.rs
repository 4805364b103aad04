//! Ids of messages: unique over branches, deletions, copies and threads, and stable over a crash.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;
use superstep::messages::{AiMessage, Message, MessagesUpdate, ToolCall};
use superstep::thread::{Thread, as_node};
use superstep::{ContextWith, END, ErrorKind, Graph, GraphState, NodeError, START, StateGraph};

use super::stores::on_every_store;

#[derive(GraphState, Clone, Debug, PartialEq)]
struct Chat {
    #[state(input, reducer = add_messages)]
    messages: Vec<Message>,
}

async fn talk(chat: &Chat) -> ChatUpdate {
    let call = ToolCall::new("", "clock");
    Chat::update().messages(AiMessage::new(format!("reply {}", chat.messages.len())).call(call))
}

fn chat() -> Graph<Chat> {
    StateGraph::<Chat>::new().edge(START, talk).edge(talk, END).compile().unwrap()
}

async fn messages<D: Send + Sync + 'static>(thread: &Thread<Chat, D>) -> Vec<Message> {
    thread.state().await.unwrap().unwrap().state.unwrap().messages
}

fn ids(messages: &[Message]) -> Vec<&str> {
    messages.iter().map(|message| message.id().unwrap()).collect()
}

#[tokio::test]
async fn branches_copies_and_new_threads_get_other_ids() {
    on_every_store(async |store| {
        let graph = chat();
        let thread = store.thread(&graph);
        let mut all: HashMap<String, Message> = HashMap::new();
        let mut take = |messages: &[Message]| {
            for message in messages {
                let id = message.id().unwrap().to_owned();
                let before = all.insert(id, message.clone()).unwrap_or_else(|| message.clone());
                assert_eq!(before, *message);
                let calls = message.as_ai().into_iter().flat_map(AiMessage::calls);
                assert!(calls.map(|(id, _)| id).all(|id| id.starts_with("call_") && id.len() == 31));
            }
            all.len()
        };
        thread.run(Chat::input().messages("a")).await.unwrap();
        assert_eq!(take(&messages(&thread).await), 2);
        // A replay makes a new reply to the same question.
        let asked = thread.history().await.unwrap()[1].id;
        let replayed = thread.at(asked).run_again().await.unwrap().into_state().messages;
        assert_eq!(replayed, messages(&thread).await);
        assert_eq!(take(&replayed), 3);
        // So does another input at the same checkpoint.
        thread.at(asked).run(Chat::input().messages("b")).abandon_pending().await.unwrap();
        assert_eq!(take(&messages(&thread).await), 5);
        let copy = thread.copy("copy").await.unwrap();
        for thread in [&thread, &copy] {
            thread.run(Chat::input().messages("c")).await.unwrap();
            take(&messages(thread).await);
        }
        assert_eq!(take(&[]), 9);
        thread.delete().await.unwrap();
        thread.run(Chat::input().messages("a")).await.unwrap();
        assert_eq!(take(&messages(&thread).await), 11);
        // A message that was removed gives its id to no other.
        let last = messages(&thread).await.pop().unwrap();
        let removed = superstep::messages::Remove::id(last.id().unwrap());
        thread.update(Chat::update().messages(removed), as_node(talk)).await.unwrap();
        thread.update(Chat::update().messages("d"), as_node(talk)).await.unwrap();
        assert_eq!(take(&messages(&thread).await), 12);
    })
    .await;
}

#[tokio::test]
async fn finished_task_keeps_its_ids() {
    async fn fails(_: &Chat, cx: &ContextWith<AtomicBool>) -> Result<(), NodeError> {
        for _ in 0..3 {
            tokio::task::yield_now().await;
        }
        if cx.context().load(Ordering::SeqCst) { Err(NodeError::msg("broken")) } else { Ok(()) }
    }
    on_every_store(async |store| {
        let graph = StateGraph::<Chat>::with_context::<AtomicBool>().edge(START, (talk, fails));
        let graph = graph.edge(talk, END).edge(fails, END).compile().unwrap();
        let run = store.thread(&graph).run(Chat::input().messages("a")).context(AtomicBool::new(true));
        run.await.unwrap_err();
        let pending = store.thread(&graph).state().await.unwrap().unwrap();
        let result = pending.tasks.iter().find_map(|task| task.result.as_ref()).unwrap();
        let made = serde_json::to_value(result).unwrap();
        let resumed = store.thread(&graph).resume(()).context(AtomicBool::new(false)).await.unwrap();
        let resumed = resumed.into_state().messages;
        assert_eq!(resumed.len(), 2);
        let id = json!(resumed[1].id().unwrap());
        assert!(made.to_string().contains(&id.to_string()), "{made} {id}");
        assert_eq!(messages(&store.thread(&graph)).await, resumed);
    })
    .await;
}

#[tokio::test]
async fn client_cannot_change_the_record() {
    on_every_store(async |store| {
        let graph = chat();
        let thread = store.thread(&graph);
        let input = |message| graph.parse_input(json!({"messages": [message]}));
        let pay = || json!({"role": "user", "content": "pay", "id": "1"});
        thread.run(input(pay()).unwrap()).await.unwrap();
        let reply = messages(&thread).await[1].clone();
        // The same request again adds no second question.
        thread.run(input(pay()).unwrap()).await.unwrap();
        let before = messages(&thread).await;
        assert_eq!(before.len(), 3);
        let own = json!({"role": "user", "content": "do not pay", "id": "1"});
        let of_model = json!({"role": "assistant", "content": "paid", "id": reply.id()});
        for message in [own, of_model] {
            let id = message["id"].clone();
            let error = thread.run(input(message).unwrap()).await.unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Reducer { field: "messages", .. }), "{error}");
            let cause = std::error::Error::source(&error).unwrap().to_string();
            assert!(
                cause.starts_with(&format!("a client cannot change message `{}`", id.as_str().unwrap())),
                "{cause}"
            );
            assert_eq!(messages(&thread).await, before);
        }
        // The id of a message of another thread, or of one that was removed.
        let other = graph.run(Chat::input().messages("x")).await.unwrap().into_state().messages;
        let taken = json!({"role": "user", "content": "mine", "id": other[0].id()});
        thread.run(input(taken).unwrap()).await.unwrap_err();
        assert_eq!(messages(&thread).await, before);
        // The program itself can change a message.
        let corrected = Message::human("paid").with_id("1");
        thread.update(Chat::update().messages(corrected.clone()), as_node(START)).await.unwrap();
        assert_eq!(messages(&thread).await[0], corrected);
    })
    .await;
}

#[tokio::test]
async fn client_can_send_a_whole_conversation() {
    on_every_store(async |store| {
        let graph = chat();
        let earlier = graph.run(Chat::input().messages("a")).await.unwrap().into_state().messages;
        let all = earlier.iter().cloned().chain(["b".into()]).collect::<Vec<_>>();
        let input = graph.parse_input(json!({"messages": all})).unwrap();
        let thread = store.thread(&graph);
        thread.run(input).await.unwrap();
        let stored = messages(&thread).await;
        assert_eq!((stored.len(), ids(&stored[..2])), (4, ids(&earlier)));
        // It sends the list again with its next question.
        let all = stored.iter().cloned().chain(["c".into()]).collect::<Vec<_>>();
        let input = Chat::input().messages(MessagesUpdate::of_client(all));
        let after = thread.run(input).await.unwrap().into_state().messages;
        assert_eq!((after.len(), &after[..4]), (6, &stored[..]));
    })
    .await;
}
