//! The model that is asked: a real one if there is one, otherwise one that follows a script.

use std::error::Error;
use std::sync::Arc;

use superstep::messages::{AiMessage, Message, ToolCall};
use superstep_agent::{ChatModel, ChatRequest, ScriptedModel};

/// The model that the environment names.
pub(crate) fn from_environment() -> Result<Arc<dyn ChatModel>, Box<dyn Error>> {
    #[cfg(feature = "openai")]
    if let Some(model) = superstep_agent::OpenAiModel::from_env()? {
        return Ok(Arc::new(model));
    }
    // Each run is a new process: what was said tells how far the script is.
    Ok(Arc::new(ScriptedModel::new([]).otherwise(reply)))
}

/// The reply that follows what was said since the person spoke.
fn reply(request: &ChatRequest) -> AiMessage {
    let turn =
        request.messages.iter().rposition(|message| matches!(message, Message::Human(_))).unwrap_or_default();
    let said = request.messages.get(turn..).unwrap_or_default();
    let call = |place: usize, name: &str| ToolCall::new(format!("call_{turn}_{place}"), name);
    match said.iter().filter(|message| message.as_ai().is_some()).count() {
        0 => AiMessage::new("Let me see.")
            .call(call(1, "calculate").arg("left", 17).arg("operation", "times").arg("right", 23))
            .call(call(2, "search_files").arg("word", "checkpoint"))
            .call(call(3, "clock")),
        1 => AiMessage::new("").call(call(4, "delete_file").arg("file", "old.txt")),
        _ => {
            let result = |message: &Message| Some(message.as_tool()?.content.text().into_owned());
            let results: Vec<String> = said.iter().filter_map(result).collect();
            AiMessage::new(format!("Here you are: {}.", results.join("; ")))
        }
    }
}
