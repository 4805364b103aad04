//! The `messages_sanity` node, which repairs invalid histories.

use proptest::prelude::*;
use serde_json::json;
use superstep::messages::sanity::{MessagesSanity, RepairTexts, repair};
use superstep::messages::{
    AiMessage, HasMessages, InvalidToolCall, Message, MessagesState, Role, ToolCall, messages_sanity,
};
use superstep::state::Update;
use superstep::{END, EventKind, Graph, GraphState, Overwrite, START, StateGraph, StreamMode, named};
use tests::endpoint;

use crate::engine::trace::block_on;

#[derive(GraphState, Clone)]
struct Chat {
    #[state(input, reducer = add_messages)]
    messages: Vec<Message>,
    said: Option<String>,
}

#[derive(GraphState, Clone)]
struct Support {
    #[state(flatten)]
    chat: MessagesState,
    urgent: bool,
}

fn graph() -> Graph<Chat> {
    StateGraph::<Chat>::new().edge(START, messages_sanity).edge(messages_sanity, END).compile().unwrap()
}

/// Runs the node on these messages.
fn repaired(before: &[Message]) -> Vec<Message> {
    block_on(graph().run(Chat::input().messages(before.to_vec()))).unwrap().into_state().messages
}

fn calls(id: &str, calls: &[&str]) -> Message {
    let ai = calls.iter().fold(AiMessage::new(""), |ai, call| ai.call(ToolCall::new(*call, "clock")));
    Message::from(ai).with_id(id)
}

fn human(id: &str) -> Message {
    Message::human("hello").with_id(id)
}

fn ai(id: &str) -> Message {
    Message::ai("hi").with_id(id)
}

fn tool(id: &str, call: &str) -> Message {
    Message::tool(call, "12:00").with_id(id)
}

/// A conversation in which each turn has two calls.
fn turns(count: usize) -> Vec<Message> {
    let turn = |turn: usize| {
        let id = |part: &str| format!("{turn}.{part}");
        [
            human(&id("human")),
            calls(&id("calls"), &["call_0", "call_1"]),
            tool(&id("1"), "call_1"),
            tool(&id("0"), "call_0"),
            ai(&id("ai")),
        ]
    };
    (0..count).flat_map(turn).collect()
}

/// `after` lists the ids of the repaired history; `+` marks inserted messages.
fn check(before: &[Message], after: &str) {
    let end = repaired(before);
    let word = |message: &Message| {
        let id = message.id().unwrap();
        let kept = before.iter().find(|old| old.id() == Some(id));
        if let Some(kept) = kept {
            assert_eq!(kept, message, "kept messages are unchanged");
            return id.to_owned();
        }
        match message.as_tool() {
            Some(tool) => {
                assert_eq!(tool.name.as_deref(), Some("clock"));
                format!("+{}", tool.tool_call_id)
            }
            None => format!("+{}", message.role()),
        }
    };
    assert_eq!(end.iter().map(word).collect::<Vec<_>>().join(" "), after);
    assert_eq!(endpoint::strict(&end), Ok(()));
    assert_eq!(endpoint::json::openai(&end), Ok(()));
    assert_eq!(endpoint::json::anthropic(&end), Ok(()));
    assert_eq!(repaired(&end), end, "a valid history is unchanged");
}

#[test]
fn unanswered_calls_get_an_answer() {
    check(&[human("h"), calls("a", &["1", "2"])], "h a +1 +2 +ai");
    check(&[human("h"), calls("a", &["1", "2"]), human("n")], "h a +1 +2 n");
}

#[test]
fn partly_answered_calls_keep_their_answers() {
    let ids: Vec<String> = (0..40).map(|call| format!("call_{call}")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let answered = [tool("x", "call_7"), tool("y", "call_3")];
    let before = [vec![human("h"), calls("a", &ids)], answered.to_vec(), vec![human("n")]].concat();
    let missing: Vec<_> = ids.iter().filter(|id| !["call_3", "call_7"].contains(id)).collect();
    let missing: Vec<_> = missing.iter().map(|id| format!("+{id}")).collect();
    check(&before, &format!("h a x y {} n", missing.join(" ")));
}

#[test]
fn unanswered_call_is_answered_in_place() {
    let mut before = turns(60);
    let gone = before.iter().position(|message| message.id() == Some("30.1")).unwrap();
    before.remove(gone);
    let ids = before.iter().map(|message| message.id().unwrap().to_owned());
    let after: Vec<_> =
        ids.flat_map(|id| if id == "30.0" { vec![id, "+call_1".to_owned()] } else { vec![id] }).collect();
    check(&before, &after.join(" "));
}

#[test]
fn misplaced_answers_are_removed_and_human_turns_separated() {
    check(&[human("h"), tool("t", "9"), human("n")], "h +system n");
    check(&[human("h"), calls("a", &["1"]), tool("t", "1"), tool("u", "1"), ai("b")], "h a t b");
    check(&[human("h"), calls("a", &["1"]), human("n"), tool("t", "1"), ai("b")], "h a t n b");
    check(&[human("h"), calls("a", &["1"]), tool("t", "1")], "h a t +ai");
}

#[test]
fn valid_history_is_not_rewritten() {
    let before = turns(3);
    let updates = block_on(async {
        let mut events =
            graph().run(Chat::input().messages(before.clone())).events([StreamMode::Updates]).stream();
        let mut updates = Vec::new();
        while let Some(event) = events.next().await {
            if let EventKind::Update { node, update, .. } = event.unwrap().kind {
                assert_eq!(&*node, "messages_sanity");
                updates.push(update.is_empty());
            }
        }
        updates
    });
    assert_eq!(updates, [true], "the update is empty");
    assert_eq!(repaired(&before), before);
}

#[test]
fn custom_texts_apply_to_a_flattened_conversation() {
    let texts = RepairTexts::default().note("Notiz").placeholder("kein Ergebnis").closing("Schluss");
    let sanity = named("sanity", MessagesSanity::with(texts));
    let graph = StateGraph::<Support>::new().edge(START, &sanity).edge(sanity, END).compile().unwrap();
    let before = [human("h"), human("i"), calls("a", &["1"])];
    let input = Support::input().chat(MessagesState::input().messages(before.to_vec()));
    let state = block_on(graph.run(input)).unwrap().into_state();
    let said: Vec<_> = state.messages().iter().map(|message| message.text().into_owned()).collect();
    assert_eq!(said, ["hello", "Notiz", "hello", "", "kein Ergebnis", "Schluss"]);
    assert!(!state.urgent);
}

#[derive(Clone, Debug)]
enum Kind {
    Human,
    System,
    /// Calls as (valid, id).
    Ai(Vec<(bool, u8)>),
    Tool(u8),
}

/// Generates histories with few ids, so that calls are answered never, twice or at the wrong place.
fn kinds() -> impl Strategy<Value = Vec<Kind>> {
    let call = (any::<bool>(), 0_u8..5);
    let kind = prop_oneof![
        2 => Just(Kind::Human),
        1 => Just(Kind::System),
        3 => prop::collection::vec(call, 0..4).prop_map(Kind::Ai),
        4 => (0_u8..6).prop_map(Kind::Tool),
    ];
    prop::collection::vec(kind, 0..24)
}

fn message((at, kind): (usize, &Kind)) -> Message {
    let text = format!("text {at}");
    let message = match kind {
        Kind::Human => Message::human(text),
        Kind::System => Message::system(text),
        Kind::Tool(id) => Message::tool(format!("call_{id}"), text),
        Kind::Ai(calls) => {
            let add = |ai: AiMessage, (readable, id): &(bool, u8)| match readable {
                true => ai.call(ToolCall::new(format!("call_{id}"), "tool")),
                false => ai.invalid_call(InvalidToolCall::new(format!("call_{id}"), "tool", "{")),
            };
            calls.iter().fold(AiMessage::new(text), add).into()
        }
    };
    message.with_id(format!("m{at}"))
}

fn ids<'a>(history: &'a [Message], of: impl Fn(&Message) -> bool + 'a) -> Vec<&'a str> {
    history.iter().filter(|message| of(message)).filter_map(Message::id).collect()
}

proptest! {
    #[test]
    fn endpoints_accept_every_repaired_history(kinds in kinds()) {
        let before: Vec<Message> = kinds.iter().enumerate().map(message).collect();
        let after = repaired(&before);

        prop_assert_eq!(endpoint::openai(&after), Ok(()));
        prop_assert_eq!(endpoint::anthropic(&after), Ok(()));
        let twice = |pair: &[Message]| pair.iter().all(|message| message.role() == Role::Human);
        prop_assert!(!after.windows(2).any(twice));
        prop_assert!(after.last().is_none_or(|last| last.role() != Role::Tool));

        // The repaired history needs no repair. A history that needs none is unchanged.
        prop_assert_eq!(repair(&after, &RepairTexts::default()), None);
        prop_assert_eq!(repair(&before, &RepairTexts::default()).is_none(), after == before);

        // Kept messages are unchanged, and all messages but those of tools are kept in order.
        let was = |message: &&Message| before.iter().any(|old| old.id() == message.id());
        let kept: Vec<Message> = after.iter().filter(was).cloned().collect();
        for message in &kept {
            prop_assert!(before.contains(message));
        }
        let speech = |message: &Message| message.role() != Role::Tool;
        prop_assert_eq!(ids(&kept, speech), ids(&before, speech));

        // Only the first answer to a call is kept, together with the last earlier message that made the call.
        for (at, message) in before.iter().enumerate() {
            let Some(tool) = message.as_tool() else { continue };
            let makes = |message: &Message| {
                message.as_ai().is_some_and(|ai| ai.calls().any(|(id, _)| id == tool.tool_call_id))
            };
            let caller = before[..at].iter().rposition(makes);
            let answers = |other: &Message| other.as_tool().is_some_and(|other| other.tool_call_id == tool.tool_call_id);
            let first = caller.is_some_and(|caller| !before[caller..at].iter().any(answers));
            let place = after.iter().position(|kept| kept == message);
            prop_assert_eq!(place.is_some(), first, "{:?}", message);
            if let (Some(place), Some(caller)) = (place, caller) {
                let stands_with = after[..place].iter().rfind(|message| message.role() != Role::Tool);
                prop_assert_eq!(stands_with, Some(&before[caller]));
            }
        }
        // Answers to one message keep their order.
        for together in kept.chunk_by(|a, b| speech(a) == speech(b)).filter(|chunk| !speech(&chunk[0])) {
            let place = |message: &Message| before.iter().position(|old| old == message);
            prop_assert!(together.is_sorted_by_key(place));
        }
    }
}

/// Generates messages with unusual content: empty, blank, foreign blocks, unsigned thinking.
fn odd() -> impl Strategy<Value = Message> {
    let contents = [
        json!(""),
        json!(" \n"),
        json!([]),
        json!([""]),
        json!([{"type": "thinking", "thinking": "hm"}]),
        json!([{"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "text", "text": "so"}]),
        json!([{"type": "tool_use", "id": "call_9", "name": "tool", "input": {}}]),
        json!([{"type": "refusal", "refusal": ""}, {"type": "input_json_delta", "partial_json": "{"}]),
    ];
    let kwargs = [json!({}), json!({"refusal": null, "annotations": []}), json!({"reasoning_content": "hm"})];
    let calls = prop::collection::vec(
        (any::<bool>(), 0_u8..4, prop::sample::select(vec!["tool", "a.b", "größe"])),
        0..3,
    );
    let content = prop::sample::select(contents.to_vec());
    (content, prop::sample::select(kwargs.to_vec()), 0_u8..4, calls).prop_map(|(content, kwargs, kind, calls)| {
        let of = |kind: &str| json!({"type": kind, "content": content, "tool_calls": []});
        let read = |value| Message::from_json(value).unwrap();
        match kind {
            0 => read(json!({"type": "human", "content": content})),
            1 => read(json!({"type": "tool", "content": content, "tool_call_id": format!("call.{}", calls.len())})),
            _ => {
                let mut ai = read(of("ai")).as_ai().unwrap().clone();
                ai.additional_kwargs = kwargs.as_object().unwrap().clone();
                let add = |ai: AiMessage, (readable, id, name): (bool, u8, &str)| match readable {
                    true => ai.call(ToolCall::new(format!("call.{id}"), name)),
                    false => ai.invalid_call(InvalidToolCall::new(format!("call.{id}"), name, "{")),
                };
                calls.into_iter().fold(ai, add).into()
            }
        }
    })
}

proptest! {
    #[test]
    fn endpoints_accept_unusual_content(before in prop::collection::vec(odd(), 0..12)) {
        let after = repaired(&before);
        prop_assert_eq!(endpoint::json::openai(&after), Ok(()));
        prop_assert_eq!(endpoint::json::anthropic(&after), Ok(()));
    }
}

/// An overwrite can contain answers without ids. If the node failed on them, the conversation could not continue.
#[test]
fn answers_without_ids_do_not_fail_the_run() {
    async fn writes(_: &Chat) -> ChatUpdate {
        let call = AiMessage::new("").call(ToolCall::new("", "clock")).into();
        let odd = vec![Message::human("a"), call, Message::tool("", "b"), Message::human("c")];
        Chat::update().messages(Overwrite(odd)).said("done")
    }
    let graph = StateGraph::<Chat>::new()
        .edge(START, writes)
        .edge(writes, messages_sanity)
        .edge(messages_sanity, END)
        .compile()
        .unwrap();
    let state = block_on(graph.run(Chat::input())).unwrap().into_state();
    let texts: Vec<_> = state.messages.iter().map(|message| message.text().into_owned()).collect();
    assert_eq!((texts.len(), &*texts[0], &*texts[3]), (4, "a", "c"));
    assert_eq!(endpoint::strict(&state.messages), Ok(()));
    assert_eq!(state.said.as_deref(), Some("done"));
}
