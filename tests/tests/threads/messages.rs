//! A conversation on a thread: stored bytes grow with the messages, and the messages round-trip.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use superstep::messages::{AiMessage, Block, Message, MessageUpdate, Remove, ToolCall, ToolMessage};
use superstep::thread::as_node;
use superstep::{END, GraphState, Route, START, StateGraph};

use super::growth::ByteCounter;
use super::stores::{TestStore, on_every_store};

#[derive(GraphState, Clone, Debug)]
struct Chat {
    #[state(input)]
    length: usize,
    #[state(input, reducer = add_messages)]
    messages: Vec<Message>,
}

#[derive(Route)]
enum Loop {
    #[to(talk)]
    Again,
    #[to(END)]
    Out,
}

/// The length of a message.
const TEXT: usize = 200;

async fn talk(chat: &Chat) -> (ChatUpdate, Loop) {
    let at = chat.messages.len();
    let text = format!("{at:0TEXT$}");
    let message = match at % 4 {
        0 => Message::human([Block::from_text(text), Block::image_url("https://a.example/b.png")]),
        1 => AiMessage::new(text).call(ToolCall::new(format!("call_{at}"), "look")).into(),
        2 => ToolMessage::new(format!("call_{}", at - 1), text).artifact(at).into(),
        _ => Message::ai(text),
    };
    (Chat::update().messages(message), if at + 1 < chat.length { Loop::Again } else { Loop::Out })
}

/// Adds `length` messages, one in each superstep. Returns the bytes that the store received, and the bytes from which
/// it reads the messages.
async fn stored_bytes(store: &TestStore, length: usize) -> (u64, usize) {
    let counter = ByteCounter { store: store.open(), bytes: Arc::default() };
    let graph = StateGraph::<Chat>::new().edge(START, talk).compile().unwrap();
    let name = format!("{length}");
    let thread = graph.with_checkpointer(counter.clone()).thread(&*name);
    let outcome = thread.run(Chat::input(length)).recursion_limit(length as u64).await.unwrap();
    let read = thread.state().await.unwrap().unwrap().state.unwrap();
    assert_eq!(read.messages.len(), length);
    assert_eq!(read.messages, outcome.into_state().messages, "as they were");
    let found = store.open().get(&name, "", None).await.unwrap().found.unwrap();
    let field = found.fields.iter().find(|field| field.field == "messages").unwrap();
    (counter.bytes.load(Ordering::SeqCst), field.changes.iter().map(|change| change.payload.len()).sum())
}

#[tokio::test]
async fn stored_bytes_grow_linearly_with_messages() {
    on_every_store(async |store| {
        let (half, _) = stored_bytes(store, 500).await;
        let (whole, read) = stored_bytes(store, 1000).await;
        assert!(whole < half * 21 / 10, "{half} bytes for 500 messages, {whole} for 1000");
        // About 320 bytes each as JSON, plus the checkpoint.
        assert!(whole < 1000 * 600, "{whole} bytes");
        assert!(read < 1000 * 400, "a state is read from {read} bytes");
    })
    .await;
}

#[tokio::test]
async fn replaced_and_removed_messages_are_read_back() {
    on_every_store(async |store| {
        let graph = StateGraph::<Chat>::new().edge(START, talk).compile().unwrap();
        let thread = store.thread(&graph);
        let chat = thread.run(Chat::input(6)).await.unwrap().into_state();
        let id = |at: usize| chat.messages[at].id().unwrap().to_owned();
        let corrected = Message::human("corrected").with_id(id(0));
        let update: [MessageUpdate; 3] = [corrected.into(), Remove::id(id(3)).into(), "more".into()];
        thread.update(Chat::update().messages(update), as_node(talk).with_route(Loop::Out)).await.unwrap();
        let read = store.thread(&graph).state().await.unwrap().unwrap().state.unwrap();
        assert_eq!(read.messages.len(), 6);
        assert_eq!(
            (read.messages[0].text().as_ref(), read.messages[5].text().as_ref()),
            ("corrected", "more")
        );
        assert!(read.messages.iter().all(|message| message.id() != Some(&id(3))));
        // The removal of an unknown message is refused and changes nothing.
        let unknown =
            thread.update(Chat::update().messages(Remove::id("nobody")), as_node(talk).with_route(Loop::Out));
        unknown.await.unwrap_err();
        assert_eq!(
            store.thread(&graph).state().await.unwrap().unwrap().state.unwrap().messages,
            read.messages
        );
    })
    .await;
}
