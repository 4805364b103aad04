use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

use serde_json::{Map, Value, json};

use crate::messages::call::short_id;
use crate::messages::{AiMessage, Block};

use super::blocks;

/// Returns the content of a model's message: thinking first, calls at their places in the content or else at the end.
pub(super) fn with_content(message: &AiMessage) -> Vec<Value> {
    let inputs = inputs(message);
    let (mut content, mut sent) = (Vec::new(), HashSet::new());
    for block in message.content.blocks() {
        match block {
            // The message's list of calls takes precedence: a call that is missing there gets no answer. The block of a
            // streamed message has no arguments.
            Block::ToolUse(block) => {
                if let Some((name, input)) = inputs.get(block.id.as_str())
                    && sent.insert(block.id.as_str())
                {
                    content.push(tool_use(&block.id, name, input, block.extra.get("cache_control")));
                }
            }
            block => content.extend(blocks::block(block)),
        }
    }
    if message.content.blocks().is_empty() {
        content.extend(blocks::of(&message.content));
    }
    let refusal = message.additional_kwargs.get("refusal").and_then(Value::as_str);
    content.extend(refusal.filter(|text| !text.trim().is_empty()).map(blocks::text));
    for (id, _) in message.calls() {
        if let Some((name, input)) = inputs.get(id)
            && sent.insert(id)
        {
            content.push(tool_use(id, name, input, None));
        }
    }
    // A message that begins with thinking is in its original order: thinking may follow results of tools that ran at
    // the provider.
    if !content.first().is_some_and(is_thought) {
        content.sort_by_key(|block| !is_thought(block));
    }
    content
}

fn is_thought(block: &Value) -> bool {
    block["type"] == "thinking" || block["type"] == "redacted_thinking"
}

/// Returns the tool and the input of each call.
fn inputs(message: &AiMessage) -> BTreeMap<&str, (&str, Map<String, Value>)> {
    let calls =
        message.tool_calls.iter().map(|call| (call.id.as_str(), (call.name.as_str(), call.args.clone())));
    let invalid = message.invalid_tool_calls.iter().map(|call| {
        let written =
            (!call.args.is_empty()).then(|| ("invalid_arguments".to_owned(), call.args.as_str().into()));
        (call.id.as_str(), (call.name.as_str(), written.into_iter().collect()))
    });
    calls.chain(invalid).collect()
}

fn tool_use(call: &str, name: &str, input: &Map<String, Value>, cache_control: Option<&Value>) -> Value {
    let mut block = json!({"type": "tool_use", "id": id(call), "name": self::name(name), "input": input});
    if let (Some(cache_control), Some(block)) = (cache_control, block.as_object_mut()) {
        block.insert("cache_control".to_owned(), cache_control.clone());
    }
    block
}

/// Returns a call id that Anthropic accepts, the same for a call and its answer.
pub(super) fn id(call: &str) -> Cow<'_, str> {
    if !call.is_empty() && call.chars().all(is_allowed) { call.into() } else { short_id(call).into() }
}

/// Returns a tool name that Anthropic accepts. A model may have called a tool that does not exist.
fn name(tool: &str) -> Cow<'_, str> {
    if tool.is_empty() {
        return "unknown".into();
    }
    if tool.len() <= MAX_NAME && tool.chars().all(is_allowed) {
        return tool.into();
    }
    tool.chars().map(|letter| if is_allowed(letter) { letter } else { '_' }).take(MAX_NAME).collect()
}

/// The maximum length of a name.
const MAX_NAME: usize = 128;

fn is_allowed(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-')
}
