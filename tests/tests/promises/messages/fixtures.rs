//! Messages written by other systems, read and converted to every format.

use serde_json::{Map, Value, json};
use superstep::messages::{AnthropicPrompt, Message, Role};

use super::anthropic::check_accepted;

#[derive(Clone, Copy, PartialEq)]
enum Form {
    OpenAi,
    LangChain,
}

macro_rules! fixtures {
    ($($name:ident: $form:ident at $($pointer:literal),+;)*) => {
        const FIXTURES: &[(&str, &str, Form, &[&str])] = &[$((
            stringify!($name),
            include_str!(concat!("fixtures/", stringify!($name), ".json")),
            Form::$form,
            &[$($pointer),+],
        )),*];
    };
}

fixtures! {
    openai_request: OpenAi at "/messages";
    openai_parallel_calls: OpenAi at "/choices/0/message";
    openai_search_and_refusal: OpenAi at "/choices/0/message", "/choices/1/message";
    openai_audio: OpenAi at "/choices/0/message";
    openai_custom_and_cut_calls: OpenAi at "/choices/0/message";
    deepseek_reasoner: OpenAi at "/choices/0/message";
    openrouter_thought_signatures: OpenAi at "/choices/0/message";
    ollama_without_ids: OpenAi at "/message";
    langgraph_thread_state: LangChain at "/values/messages";
    langchain_anthropic_thinking: LangChain at "";
    langchain_envelopes: LangChain at "";
    langchain_stored_history: LangChain at "";
    langchain_content_blocks: LangChain at "";
    langchain_invalid_calls: LangChain at "";
}

/// Calls `check` for each fixture with its JSON values and the parsed messages.
fn each(mut check: impl FnMut(&str, Form, &[Value], &[Message])) {
    for (name, text, form, pointers) in FIXTURES {
        let whole: Value = serde_json::from_str(text).unwrap();
        let mut values = Vec::new();
        for pointer in *pointers {
            match whole.pointer(pointer).unwrap().clone() {
                Value::Array(messages) => values.extend(messages),
                message => values.push(message),
            }
        }
        let read = |value: &Value| {
            Message::from_json(value.clone()).unwrap_or_else(|error| panic!("{name}: {error}: {value}"))
        };
        let messages: Vec<_> = values.iter().map(read).collect();
        check(name, *form, &values, &messages);
    }
}

/// Removes nulls and empty values.
fn without_empty(value: Value) -> Value {
    let is_present = |value: &Value| match value {
        Value::Null => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(list) => !list.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        _ => true,
    };
    match value {
        Value::Array(list) => list.into_iter().map(without_empty).collect(),
        Value::Object(fields) => {
            let arguments = fields.get("arguments").cloned();
            let mut fields: Map<_, _> = fields
                .into_iter()
                .map(|(key, value)| (key, without_empty(value)))
                .filter(|(_, value)| is_present(value))
                .collect();
            // Arguments are JSON inside a string. Invalid JSON is compared as a string.
            if let Some(Value::String(text)) = &arguments {
                let read = serde_json::from_str(if text.is_empty() { "{}" } else { text });
                fields.insert("arguments".to_owned(), read.unwrap_or(arguments.clone().unwrap()));
            }
            Value::Object(fields)
        }
        value => value,
    }
}

/// Extracts a message from LangChain's envelope.
fn unwrapped(value: &Value) -> Value {
    let (kind, fields) = match value {
        value if value.get("lc").is_some() => {
            let class = value["id"].as_array().unwrap().last().unwrap().as_str().unwrap();
            (class.to_lowercase().replace("message", ""), &value["kwargs"])
        }
        value => (value["type"].as_str().unwrap().to_lowercase(), value.get("data").unwrap_or(value)),
    };
    let mut fields = fields.clone();
    fields["type"] = json!(kind.replace("messagechunk", "").replace("chunk", ""));
    fields
}

#[test]
fn fixtures_round_trip_in_their_own_format() {
    each(|name, form, values, messages| {
        for (value, message) in values.iter().zip(messages) {
            let (mut before, mut after) = match form {
                Form::OpenAi => (value.clone(), message.to_openai()),
                Form::LangChain => (unwrapped(value), serde_json::to_value(message).unwrap()),
            };
            // Older messages omit these fields.
            for (key, usual) in [("status", json!("success")), ("tool_calls", after["tool_calls"].clone())] {
                if before.get(key).is_none() && after[key] == usual {
                    after.as_object_mut().unwrap().remove(key);
                }
            }
            if form == Form::OpenAi {
                let calls = before.get_mut("tool_calls").and_then(Value::as_array_mut);
                for call in calls.into_iter().flatten() {
                    if call.get("type").is_none() {
                        call["type"] = json!("function");
                    }
                }
            }
            assert_eq!(without_empty(after), without_empty(before), "{name}");
        }
    });
}

#[test]
fn fixtures_round_trip_through_storage() {
    each(|name, _, _, messages| {
        for message in messages {
            let text = serde_json::to_string(message).unwrap();
            assert_eq!(&serde_json::from_str::<Message>(&text).unwrap(), message, "{name}");
        }
    });
}

/// Returns the parts that no format may lose.
fn essentials(message: &Message) -> (Role, String, Vec<Value>, Option<String>) {
    let calls = message.as_ai().map(|message| {
        let valid = message.tool_calls.iter().map(|call| json!([call.id, call.name, call.args]));
        let invalid = message.invalid_tool_calls.iter().map(|call| json!([call.id, call.name, call.args]));
        valid.chain(invalid).collect()
    });
    let answers = message.as_tool().map(|message| message.tool_call_id.clone());
    (message.role(), message.text().into_owned(), calls.unwrap_or_default(), answers)
}

#[test]
fn openai_format_keeps_text_calls_and_ids() {
    each(|name, _, _, messages| {
        for message in messages {
            let sent = message.to_openai();
            let back = Message::from_json(sent.clone()).unwrap();
            assert_eq!(essentials(&back), essentials(message), "{name}: {sent}");
            for key in ["id", "response_metadata", "example", "artifact", "status", "usage_metadata", "type"]
            {
                assert!(sent.get(key).is_none(), "{name}: {sent}");
            }
        }
    });
}

#[test]
fn anthropic_format_keeps_text_calls_and_ids() {
    each(|name, _, _, messages| {
        let prompt = AnthropicPrompt::of(messages);
        check_accepted(&prompt, messages, name);
    });
}

#[test]
fn fixtures_are_parsed_into_the_expected_fields() {
    each(|name, _, _, messages| match name {
        "langgraph_thread_state" => {
            let [_, call, answer, _] = messages else { panic!("{messages:?}") };
            assert_eq!(call.as_ai().unwrap().tool_calls[0].args["number"], 4711);
            assert_eq!(call.as_ai().unwrap().usage.as_ref().unwrap().total_tokens, 113);
            assert_eq!(answer.as_tool().unwrap().artifact.as_ref().unwrap()["took_ms"], 12.5);
        }
        "langchain_stored_history" => {
            assert_eq!(messages[1].as_ai().unwrap().tool_calls[0].args["b"], 3);
            assert_eq!((messages[3].role(), messages[3].text().as_ref()), (Role::Ai, "Five."));
        }
        "langchain_envelopes" => {
            let blocks = messages[1].content().blocks();
            assert_eq!(blocks.len(), 2, "an envelope inside the content stays data");
            assert_eq!(messages[1].text(), "What does this mean?");
        }
        "openai_request" => assert_eq!(messages[0].role(), Role::System),
        "openai_custom_and_cut_calls" => {
            let message = messages[0].as_ai().unwrap();
            assert_eq!(
                message.calls().map(|(id, _)| id).collect::<Vec<_>>(),
                ["call_ok1", "call_cut2", "call_sql3"]
            );
            assert_eq!(message.invalid_tool_calls.len(), 2);
        }
        "ollama_without_ids" => {
            let message = messages[0].as_ai().unwrap();
            assert_eq!(
                (message.tool_calls[0].id.as_str(), &message.tool_calls[0].args["b"]),
                ("", &json!(23))
            );
        }
        _ => {}
    });
}
