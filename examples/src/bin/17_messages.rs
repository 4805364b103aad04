//! Shows a conversation in the state: the reducer `add_messages`, and messages in the JSON forms of LangChain, OpenAI and Anthropic.
//! Run with `cargo run -p examples --bin 17_messages`.
//!
//! `add_messages` appends new messages, replaces messages with a known id, and removes messages.

use serde_json::json;
use superstep::messages::{
    AiMessage, AnthropicPrompt, HasMessages, Message, Remove, Role, ToolCall, ToolMessage,
};
use superstep::state::Input;
use superstep::{END, GraphState, Route, START, StateGraph};

#[derive(GraphState, Clone, Debug)]
struct Chat {
    #[state(input, reducer = add_messages)]
    messages: Vec<Message>,
}

#[derive(Route)]
enum Next {
    #[to(tools)]
    Tools,
    #[to(END)]
    Done,
}

/// Simulates a model: it calls the tool `clock`, and then tells the time.
async fn model(chat: &Chat) -> (ChatUpdate, Next) {
    match chat.messages.last().and_then(Message::as_tool) {
        None => {
            let reply = AiMessage::new("").call(ToolCall::new("call_1", "clock").arg("zone", "CET"));
            (Chat::update().messages(reply), Next::Tools)
        }
        Some(result) => {
            let reply = Message::ai(format!("It is {}.", result.content.text()));
            (Chat::update().messages(reply.with_id("reply")), Next::Done)
        }
    }
}

/// Returns a result for each tool call of the last message.
async fn tools(chat: &Chat) -> ChatUpdate {
    let calls = chat.messages.last().and_then(Message::as_ai).into_iter().flat_map(AiMessage::calls);
    Chat::update()
        .messages(calls.map(|(id, name)| ToolMessage::new(id, "12:00").name(name)).collect::<Vec<_>>())
}

fn lines(chat: &Chat) -> Vec<String> {
    chat.messages.iter().map(|message| format!("{}: {}", message.role(), message.text())).collect()
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let graph = StateGraph::<Chat>::new().edge(START, model).edge(tools, model).compile()?;

    // Clients may send messages in LangChain's or OpenAI's form, as a pair, or as a string.
    let input = ChatInput::from_json(json!({
        "messages": [{"type": "system", "content": "Be brief."}, {"role": "user", "content": "What time is it?"}],
    }))?;
    let chat = graph.run(input).await?.into_state();
    assert_eq!(
        lines(&chat),
        ["system: Be brief.", "human: What time is it?", "ai: ", "tool: 12:00", "ai: It is 12:00."]
    );
    println!("{}", lines(&chat).join("\n"));

    // A message with a known id replaces the old one, a new message is appended, and a removal removes.
    let chat = chat.updated(Chat::update().messages([Message::ai("Noon.").with_id("reply")]))?;
    let chat = chat.updated(Chat::update().messages((Role::Human, "Thanks!")))?;
    assert_eq!(lines(&chat).split_off(4), ["ai: Noon.", "human: Thanks!"]);
    let first = chat.messages.first().and_then(Message::id).unwrap_or_default().to_owned();
    let shorter = chat.clone().updated(Chat::update().messages(Remove::id(first)))?;
    assert_eq!(shorter.messages().len(), 5);

    // In JSON, only an update can remove messages. An input cannot.
    let removal = json!({"messages": [{"type": "remove", "id": "__remove_all__"}]});
    if let Err(error) = ChatInput::from_json(removal.clone()) {
        println!("{error}");
    }
    let update: ChatUpdate = serde_json::from_value(removal)?;
    assert!(shorter.updated(update)?.messages.is_empty());

    // A dump has LangChain's form. Requests to models have the form of their providers.
    println!("{}", chat.dump());
    for message in &chat.messages {
        println!("{}", message.to_openai());
    }
    let prompt = AnthropicPrompt::of(&chat.messages);
    assert_eq!((prompt.system.len(), prompt.messages.len()), (1, 5));
    println!("{}", serde_json::to_string(&prompt)?);
    Ok(())
}
