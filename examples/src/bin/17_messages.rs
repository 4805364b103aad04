//! A conversation in the state: `add_messages` appends what is new, replaces what has an id that is there, and removes; and
//! the forms in which messages come and go.

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

/// Stands for a model: it looks at the clock, and then says what it has seen.
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

/// Answers every call of the last message.
async fn tools(chat: &Chat) -> ChatUpdate {
    let calls = chat.messages.last().and_then(Message::as_ai).into_iter().flat_map(AiMessage::calls);
    Chat::update()
        .messages(calls.map(|(id, name)| ToolMessage::new(id, "12:00").name(name)).collect::<Vec<_>>())
}

fn said(chat: &Chat) -> Vec<String> {
    chat.messages.iter().map(|message| format!("{}: {}", message.role(), message.text())).collect()
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let graph = StateGraph::<Chat>::new().edge(START, model).edge(tools, model).compile()?;

    // From a client: LangChain's form, that of chat endpoints, a pair or a text; all of them are messages.
    let input = ChatInput::from_json(json!({
        "messages": [{"type": "system", "content": "Be brief."}, {"role": "user", "content": "What time is it?"}],
    }))?;
    let chat = graph.run(input).await?.into_state();
    assert_eq!(
        said(&chat),
        ["system: Be brief.", "human: What time is it?", "ai: ", "tool: 12:00", "ai: It is 12:00."]
    );
    println!("{}", said(&chat).join("\n"));

    // A known id: in its place. A new one: at the end. A removal: out.
    let chat = chat.updated(Chat::update().messages([Message::ai("Noon.").with_id("reply")]))?;
    let chat = chat.updated(Chat::update().messages((Role::Human, "Thanks!")))?;
    assert_eq!(said(&chat).split_off(4), ["ai: Noon.", "human: Thanks!"]);
    let first = chat.messages.first().and_then(Message::id).unwrap_or_default().to_owned();
    let shorter = chat.clone().updated(Chat::update().messages(Remove::id(first)))?;
    assert_eq!(shorter.messages().len(), 5);

    // In JSON, only an update can remove; an input never.
    let removal = json!({"messages": [{"type": "remove", "id": "__remove_all__"}]});
    if let Err(refused) = ChatInput::from_json(removal.clone()) {
        println!("{refused}");
    }
    let update: ChatUpdate = serde_json::from_value(removal)?;
    assert!(shorter.updated(update)?.messages.is_empty());

    // What is dumped is LangChain's form; models are asked in their own.
    println!("{}", chat.dump());
    for message in &chat.messages {
        println!("{}", message.to_openai());
    }
    let prompt = AnthropicPrompt::of(&chat.messages);
    assert_eq!((prompt.system.len(), prompt.messages.len()), (1, 5));
    println!("{}", serde_json::to_string(&prompt)?);
    Ok(())
}
