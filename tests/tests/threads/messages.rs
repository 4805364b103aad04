//! A conversation on a thread: what is stored of it is what was said, and it comes back as it was.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use superstep::messages::{AiMessage, Block, Message, MessageUpdate, Remove, ToolCall, ToolMessage};
use superstep::thread::as_node;
use superstep::{END, GraphState, Route, START, StateGraph};

use super::growth::Counting;
use super::stores::{Place, on_every_store};

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

/// As long as a message is.
const TEXT: usize = 200;

async fn talk(chat: &Chat) -> (ChatUpdate, Loop) {
    let at = chat.messages.len();
    let text = format!("{at:0TEXT$}");
    let said = match at % 4 {
        0 => Message::human([Block::from_text(text), Block::image_url("https://a.example/b.png")]),
        1 => AiMessage::new(text).call(ToolCall::new(format!("call_{at}"), "look")).into(),
        2 => ToolMessage::new(format!("call_{}", at - 1), text).artifact(at).into(),
        _ => Message::ai(text),
    };
    (Chat::update().messages(said), if at + 1 < chat.length { Loop::Again } else { Loop::Out })
}

/// The bytes that a store is given while so many messages are said, one in each superstep, and those of its pieces.
async fn stored(place: &Place, length: usize) -> (u64, usize) {
    let counting = Counting { store: place.open(), bytes: Arc::default() };
    let graph = StateGraph::<Chat>::new().edge(START, talk).compile().unwrap();
    let name = format!("{length}");
    let thread = graph.with_checkpointer(counting.clone()).thread(&*name);
    let outcome = thread.run(Chat::input(length)).recursion_limit(length as u64).await.unwrap();
    let read = thread.state().await.unwrap().unwrap().state.unwrap();
    assert_eq!(read.messages.len(), length);
    assert_eq!(read.messages, outcome.into_state().messages, "as they were");
    let found = place.open().get(&name, "", None).await.unwrap().found.unwrap();
    let field = found.fields.iter().find(|field| field.field == "messages").unwrap();
    (counting.bytes.load(Ordering::SeqCst), field.changes.iter().map(|piece| piece.payload.len()).sum())
}

#[tokio::test]
async fn a_thousand_messages_take_the_bytes_of_a_thousand_messages() {
    on_every_store(async |place| {
        let (half, _) = stored(place, 500).await;
        let (whole, read) = stored(place, 1000).await;
        assert!(whole < half * 21 / 10, "{half} bytes for 500 messages, {whole} for 1000");
        // About 320 each as JSON, and what belongs to a checkpoint.
        assert!(whole < 1000 * 600, "{whole} bytes");
        assert!(read < 1000 * 400, "a state is read from {read} bytes");
    })
    .await;
}

#[tokio::test]
async fn what_was_replaced_and_removed_is_so_for_who_reads_it() {
    on_every_store(async |place| {
        let graph = StateGraph::<Chat>::new().edge(START, talk).compile().unwrap();
        let thread = place.thread(&graph);
        let chat = thread.run(Chat::input(6)).await.unwrap().into_state();
        let id = |at: usize| chat.messages[at].id().unwrap().to_owned();
        let corrected = Message::human("corrected").with_id(id(0));
        let update: [MessageUpdate; 3] = [corrected.into(), Remove::id(id(3)).into(), "more".into()];
        thread.update(Chat::update().messages(update), as_node(talk).with_route(Loop::Out)).await.unwrap();
        let read = place.thread(&graph).state().await.unwrap().unwrap().state.unwrap();
        assert_eq!(read.messages.len(), 6);
        assert_eq!(
            (read.messages[0].text().as_ref(), read.messages[5].text().as_ref()),
            ("corrected", "more")
        );
        assert!(read.messages.iter().all(|message| message.id() != Some(&id(3))));
        // A message that is not there is refused, and nothing changes.
        let nobody =
            thread.update(Chat::update().messages(Remove::id("nobody")), as_node(talk).with_route(Loop::Out));
        nobody.await.unwrap_err();
        assert_eq!(
            place.thread(&graph).state().await.unwrap().unwrap().state.unwrap().messages,
            read.messages
        );
    })
    .await;
}
