//! The same endpoints' checks of the JSON requests.
#![expect(
    clippy::indexing_slicing,
    reason = "a missing value is null, and the slice starts at a counted length"
)]

use std::collections::BTreeSet;

use serde_json::Value;
use superstep::messages::{AnthropicPrompt, Message};

use super::{Refusal, refused};

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Checks the JSON of [`Message::to_openai`] by the rules of OpenAI's endpoints.
///
/// # Errors
/// The first message that breaks a rule.
pub fn openai(history: &[Message]) -> Result<(), Refusal> {
    let mut open: BTreeSet<String> = BTreeSet::new();
    for (at, message) in history.iter().map(Message::to_openai).enumerate() {
        let refuse = |why: &str| refused(format!("messages.{at}: {why}: {message}"));
        let calls = list(&message["tool_calls"]);
        let role = text(&message, "role");
        let has_content = match &message["content"] {
            Value::String(_) => true,
            Value::Array(parts) => !parts.is_empty() && parts.iter().all(|part| part["type"].is_string()),
            Value::Null => {
                role == "assistant"
                    && (!calls.is_empty() || message["refusal"].is_string() || message["audio"].is_object())
            }
            _ => false,
        };
        if !has_content {
            return refuse("no content");
        }
        if role == "tool" {
            if !open.remove(text(&message, "tool_call_id")) {
                return refuse("answers no open call");
            }
            continue;
        }
        if !open.is_empty() {
            return refuse("comes before the answers to calls");
        }
        for call in calls {
            let kind = text(call, "type");
            let content_key = if kind == "custom" { "input" } else { "arguments" };
            if !call[kind][content_key].is_string() || text(&call[kind], "name").is_empty() {
                return refuse("a call of nothing");
            }
            if text(call, "id").is_empty() {
                return refuse("a call without an id");
            }
            open.insert(text(call, "id").to_owned());
        }
    }
    if open.is_empty() { Ok(()) } else { refused(format!("{open:?} must be answered")) }
}

/// Checks the JSON of [`AnthropicPrompt`] by the rules of Anthropic's endpoint.
///
/// # Errors
/// The first turn that breaks a rule.
pub fn anthropic(history: &[Message]) -> Result<(), Refusal> {
    let is_valid_name = |name: &str| {
        (1..=128).contains(&name.len())
            && name.bytes().all(|letter| letter.is_ascii_alphanumeric() || b"_-".contains(&letter))
    };
    let mut used: BTreeSet<String> = BTreeSet::new();
    for (at, turn) in AnthropicPrompt::of(history).messages.iter().enumerate() {
        let refuse = |why: &str| refused(format!("messages.{at}: {why}: {turn}"));
        let blocks = list(&turn["content"]);
        if blocks.is_empty() || text(turn, "role") != ["user", "assistant"][at % 2] {
            return refuse("no turn");
        }
        let results: Vec<_> =
            blocks.iter().take_while(|block| text(block, "type") == "tool_result").collect();
        let given: BTreeSet<String> =
            results.iter().map(|block| text(block, "tool_use_id").to_owned()).collect();
        if given != used || given.len() < results.len() {
            return refuse("the results of the turn before are not each here once");
        }
        used.clear();
        for block in &blocks[results.len()..] {
            let fits = match text(block, "type") {
                "text" => !text(block, "text").trim().is_empty(),
                "tool_use" => {
                    at % 2 == 1
                        && block["input"].is_object()
                        && is_valid_name(text(block, "name"))
                        && is_valid_name(text(block, "id"))
                        && used.insert(text(block, "id").to_owned())
                }
                "tool_result" => false,
                _ => true,
            };
            if !fits {
                return refuse("a block that is not taken");
            }
        }
    }
    if used.is_empty() { Ok(()) } else { refused(format!("the tool uses {used:?} have no results")) }
}
