//! Messages in the JSON of inputs and updates.

use std::error::Error as _;

use serde_json::{Value, json};
use superstep::messages::{AiMessage, Message, MessagesState, MessagesStateInput, Role, ToolCall};
use superstep::state::Input;
use superstep::{GraphState, Overwrite};

#[derive(GraphState, Clone, Debug)]
struct Chat {
    #[state(input, reducer = add_messages)]
    messages: Vec<Message>,
    #[state(input, reducer = add_messages)]
    aside: Option<Vec<Message>>,
    #[state(input, reducer = add_messages, exclude)]
    secret: Vec<Message>,
}

fn started(input: Value) -> Result<Chat, String> {
    let input = ChatInput::from_json(input).map_err(|error| error.to_string())?;
    Chat::started(input).map_err(|error| error.to_string())
}

#[track_caller]
fn refused(input: Value, expected: &[&str]) {
    let text = started(input).unwrap_err();
    assert_eq!(text.lines().skip(1).map(str::trim).collect::<Vec<_>>(), expected);
}

#[test]
fn every_message_form_is_read_and_gets_an_id() {
    let chat = started(json!({
        "messages": ["hi", ["assistant", "hello"], {"role": "user", "content": "why?"}, {"type": "ai", "content": "so", "id": "a"}],
        "aside": "one alone",
    }))
    .unwrap();
    let messages: Vec<_> =
        chat.messages.iter().map(|message| (message.role(), message.text().into_owned())).collect();
    assert_eq!(
        messages,
        [(Role::Human, "hi"), (Role::Ai, "hello"), (Role::Human, "why?"), (Role::Ai, "so")]
            .map(|(role, text)| (role, text.to_owned()))
    );
    assert!(chat.messages.iter().all(|message| message.id().is_some_and(|id| !id.is_empty())));
    assert_eq!(chat.messages[3].id(), Some("a"));
    assert_eq!(chat.aside.unwrap()[0].text(), "one alone");
}

#[test]
fn input_refuses_removals_at_their_path() {
    let never = "an input cannot remove messages, only an update can";
    for removal in [json!({"type": "remove", "id": "a"}), json!({"type": "remove", "id": "__remove_all__"})] {
        refused(json!({"messages": ["hi", removal]}), &[&format!("$.messages: {never}")]);
        refused(
            json!({"aside": [removal], "messages": removal}),
            &[&format!("$.messages: {never}"), &format!("$.aside: {never}")],
        );
        refused(
            json!({"secret": [removal]}),
            &["$.secret: the value does not fit (details are withheld because the field is excluded)"],
        );
        let error = MessagesStateInput::from_json(json!({"messages": [removal]})).unwrap_err();
        assert!(error.to_string().contains(never), "{error}");
    }
}

#[test]
fn update_can_remove_messages() {
    let chat = started(json!({"messages": [{"type": "human", "content": "a", "id": "a"}, {"type": "ai", "content": "b", "id": "b"}]})).unwrap();
    let update: ChatUpdate =
        serde_json::from_value(json!({"messages": {"type": "remove", "id": "a"}})).unwrap();
    let chat = chat.updated(update).unwrap();
    assert_eq!(chat.messages.iter().map(|message| message.text().into_owned()).collect::<Vec<_>>(), ["b"]);
    let update = json!({"messages": [{"type": "remove", "id": "__remove_all__"}, "new"]});
    let update: ChatUpdate = serde_json::from_value(update.clone()).unwrap();
    // Removals round-trip through JSON.
    let written = serde_json::to_value(&update).unwrap();
    assert_eq!(written["messages"][0], json!({"type": "remove", "id": "__remove_all__"}));
    let chat = chat.updated(serde_json::from_value::<ChatUpdate>(written).unwrap()).unwrap();
    assert_eq!(chat.messages.iter().map(|message| message.text().into_owned()).collect::<Vec<_>>(), ["new"]);
    let unknown: ChatUpdate =
        serde_json::from_value(json!({"messages": {"type": "remove", "id": "nobody"}})).unwrap();
    let error = chat.updated(unknown).unwrap_err();
    assert_eq!(
        error.source().unwrap().to_string(),
        "cannot remove message `nobody`: the list has no message with this id"
    );
}

#[test]
fn invalid_message_is_reported_with_its_path() {
    refused(
        json!({"messages": ["hi", {"role": "robot", "content": ""}], "aside": 3, "secret": [["hunter2"]]}),
        &[
            "$.messages[1]: unknown role `robot`: use `human` (`user`), `ai` (`assistant`), `tool` or `system` (`developer`)",
            "$.aside: invalid type: integer `3`, expected a message or a list of messages",
            "$.secret: the value does not fit (details are withheld because the field is excluded)",
        ],
    );
}

#[test]
fn errors_about_excluded_messages_reveal_no_content() {
    let chat = Chat::started(Chat::input().secret("hunter2")).unwrap();
    assert_eq!(chat.secret[0].text(), "hunter2");
    assert_eq!(chat.dump().to_string(), r#"{"messages":[],"aside":null}"#);
    assert!(!format!("{:?}", Chat::update().secret("hunter2")).contains("hunter2"));
    let error = chat.updated(Chat::update().secret(superstep::messages::Remove::id("hunter2"))).unwrap_err();
    let text = format!("{error} {error:?} {:?}", error.source());
    assert!(!text.contains("hunter2") && text.contains("secret"), "{text}");
}

#[test]
fn optional_message_list_starts_with_the_first_message() {
    let chat = Chat::started(Chat::input()).unwrap();
    assert_eq!(chat.aside, None);
    let chat = chat.updated(Chat::update().aside("a")).unwrap();
    let chat = chat.updated(Chat::update().aside([Message::ai("b")])).unwrap();
    assert_eq!(chat.aside.as_ref().unwrap().len(), 2);
    let chat = chat.updated(Chat::update().aside(superstep::messages::Remove::all())).unwrap();
    assert_eq!(chat.aside, Some(Vec::new()));
}

#[test]
fn messages_state_reads_the_same_inputs() {
    let input = MessagesStateInput::from_json(json!({"messages": ["hi"]})).unwrap();
    assert_eq!(MessagesState::started(input).unwrap().messages[0].text(), "hi");
}

#[test]
fn overwritten_messages_get_unique_ids() {
    let call = AiMessage::new("").call(ToolCall::new("", "clock"));
    let same = ["b", "c"].map(|text| Message::human(text).with_id("same"));
    let [b, c] = same;
    let chat = started(json!({"messages": "old"})).unwrap();
    let chat = chat.updated(Chat::update().messages(Overwrite(vec!["a".into(), b, call.into(), c]))).unwrap();
    let texts: Vec<_> = chat.messages.iter().map(|message| message.text().into_owned()).collect();
    assert_eq!(texts, ["a", "c", ""]);
    assert!(chat.messages.iter().all(|message| message.id().is_some_and(|id| !id.is_empty())));
    assert!(!chat.messages[2].as_ai().unwrap().tool_calls[0].id.is_empty());
}
