use serde_json::{Map, Value};
use superstep::messages::Usage;

/// Reads `{"prompt_tokens": .., "completion_tokens": .., ..}`. The details get LangChain's names.
pub(super) fn read(usage: &Value) -> Option<Usage> {
    let usage = usage.as_object()?;
    let count = |key: &str| usage.get(key).and_then(Value::as_u64);
    let mut read = Usage::new(
        count("prompt_tokens").unwrap_or_default(),
        count("completion_tokens").unwrap_or_default(),
    );
    if let Some(total) = count("total_tokens") {
        read.total_tokens = total;
    }
    for (to, from, names) in [
        (
            "input_token_details",
            "prompt_tokens_details",
            [("audio_tokens", "audio"), ("cached_tokens", "cache_read")],
        ),
        (
            "output_token_details",
            "completion_tokens_details",
            [("audio_tokens", "audio"), ("reasoning_tokens", "reasoning")],
        ),
    ] {
        let Some(details) = usage.get(from) else { continue };
        let named: Map<String, Value> = names
            .iter()
            .filter_map(|(from, to)| Some(((*to).to_owned(), details.get(from)?.as_u64()?.into())))
            .collect();
        if !named.is_empty() {
            read.extra.insert(to.to_owned(), named.into());
        }
    }
    Some(read)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(usage: Value, expected: Value) {
        assert_eq!(serde_json::to_value(read(&usage)).unwrap(), expected);
    }

    #[test]
    fn details_get_langchain_names() {
        check(
            json!({
                "prompt_tokens": 20, "completion_tokens": 10, "total_tokens": 30,
                "prompt_tokens_details": {"cached_tokens": 15, "audio_tokens": 0},
                "completion_tokens_details": {
                    "reasoning_tokens": 7, "audio_tokens": null, "accepted_prediction_tokens": 1,
                },
            }),
            json!({
                "input_tokens": 20, "output_tokens": 10, "total_tokens": 30,
                "input_token_details": {"cache_read": 15, "audio": 0}, "output_token_details": {"reasoning": 7},
            }),
        );
    }

    #[test]
    fn missing_total_is_the_sum() {
        check(
            json!({"prompt_tokens": 2, "completion_tokens": 3, "prompt_tokens_details": null}),
            json!({"input_tokens": 2, "output_tokens": 3, "total_tokens": 5}),
        );
        check(json!({"prompt_tokens": 2}), json!({"input_tokens": 2, "output_tokens": 0, "total_tokens": 2}));
        check(Value::Null, Value::Null);
    }
}
