use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

use serde_json::{Map, Value, json};

use crate::messages::call::short_id;
use crate::messages::{AiMessage, Block};

use super::blocks;

/// What a model has said, thoughts first, with its calls at their places in the content, and behind it where it has none.
pub(super) fn with_content(message: &AiMessage) -> Vec<Value> {
    let inputs = inputs(message);
    let (mut said, mut sent) = (Vec::new(), HashSet::new());
    for block in message.content.blocks() {
        match block {
            // The calls of the message are the truth: one that is not among them will have no answer. Of a streamed
            // message, the block has no arguments.
            Block::ToolUse(block) => {
                if let Some((name, input)) = inputs.get(block.id.as_str())
                    && sent.insert(block.id.as_str())
                {
                    said.push(tool_use(&block.id, name, input, block.extra.get("cache_control")));
                }
            }
            block => said.extend(blocks::block(block)),
        }
    }
    if message.content.blocks().is_empty() {
        said.extend(blocks::of(&message.content));
    }
    let refusal = message.additional_kwargs.get("refusal").and_then(Value::as_str);
    said.extend(refusal.filter(|text| !text.trim().is_empty()).map(blocks::text));
    for (id, _) in message.calls() {
        if let Some((name, input)) = inputs.get(id)
            && sent.insert(id)
        {
            said.push(tool_use(id, name, input, None));
        }
    }
    // What begins with a thought is in the order in which the model has said it: thoughts may follow results of tools that
    // ran at the provider.
    if !said.first().is_some_and(is_thought) {
        said.sort_by_key(|block| !is_thought(block));
    }
    said
}

fn is_thought(block: &Value) -> bool {
    block["type"] == "thinking" || block["type"] == "redacted_thinking"
}

/// Tool and input of each call.
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

/// An id of a call that is accepted here: the same for a call and its answer.
pub(super) fn id(call: &str) -> Cow<'_, str> {
    if !call.is_empty() && call.chars().all(is_taken) { call.into() } else { short_id(call).into() }
}

/// A name of a tool that is accepted here: a model may have called what is no tool at all.
fn name(tool: &str) -> Cow<'_, str> {
    if tool.is_empty() {
        return "unknown".into();
    }
    if tool.len() <= LONGEST && tool.chars().all(is_taken) {
        return tool.into();
    }
    tool.chars().map(|letter| if is_taken(letter) { letter } else { '_' }).take(LONGEST).collect()
}

/// How many letters a name has at most.
const LONGEST: usize = 128;

fn is_taken(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-')
}
