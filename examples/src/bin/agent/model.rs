//! The model of the agent: a real one if it is configured, otherwise a scripted one.

use std::error::Error;
use std::sync::Arc;

use superstep::messages::{AiMessage, Message, ToolCall};
use superstep_agent::{ChatModel, ChatRequest, ScriptedModel};

/// Returns the model that the environment variables describe.
pub(crate) fn from_environment() -> Result<Arc<dyn ChatModel>, Box<dyn Error>> {
    #[cfg(feature = "openai")]
    if let Some(model) = superstep_agent::OpenAiModel::from_env()? {
        return Ok(Arc::new(model));
    }
    // Each run is a new process, so the reply depends on the conversation only.
    Ok(Arc::new(ScriptedModel::new([]).fallback(reply)))
}

/// Returns the scripted reply to the messages since the user's last one.
fn reply(request: &ChatRequest) -> AiMessage {
    let turn =
        request.messages.iter().rposition(|message| matches!(message, Message::Human(_))).unwrap_or_default();
    let messages = request.messages.get(turn..).unwrap_or_default();
    let call = |number: usize, name: &str| ToolCall::new(format!("call_{turn}_{number}"), name);
    match messages.iter().filter(|message| message.as_ai().is_some()).count() {
        0 => AiMessage::new("Let me see.")
            .call(call(1, "calculate").arg("left", 17).arg("operation", "times").arg("right", 23))
            .call(call(2, "search_files").arg("word", "checkpoint"))
            .call(call(3, "clock")),
        1 => AiMessage::new("").call(call(4, "delete_file").arg("file", "old.txt")),
        _ => {
            let result = |message: &Message| Some(message.as_tool()?.content.text().into_owned());
            let results: Vec<String> = messages.iter().filter_map(result).collect();
            AiMessage::new(format!("Here you are: {}.", results.join("; ")))
        }
    }
}
