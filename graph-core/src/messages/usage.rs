use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value};

use super::null_is_default::null_is_default;

/// The token usage of a reply.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Usage {
    /// Tokens that the model read.
    #[serde(default, deserialize_with = "null_is_default")]
    pub input_tokens: u64,
    /// Tokens that the model wrote.
    #[serde(default, deserialize_with = "null_is_default")]
    pub output_tokens: u64,
    /// The sum.
    #[serde(default, deserialize_with = "null_is_default")]
    pub total_tokens: u64,
    /// All other fields, such as `input_token_details`.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl Usage {
    /// Creates a usage from the numbers of tokens read and written.
    pub fn new(input_tokens: u64, output_tokens: u64) -> Self {
        let total_tokens = input_tokens.saturating_add(output_tokens);
        Self { input_tokens, output_tokens, total_tokens, extra: Map::new() }
    }
}

impl std::ops::AddAssign<&Self> for Usage {
    /// Adds the counts and the numbers in the details, such as cached tokens. Of other details, the first value is kept.
    fn add_assign(&mut self, other: &Self) {
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.total_tokens = self.total_tokens.saturating_add(other.total_tokens);
        add_details(&mut self.extra, &other.extra);
    }
}

fn add_details(sum: &mut Map<String, Value>, details: &Map<String, Value>) {
    for (key, detail) in details {
        match (sum.get_mut(key), detail) {
            (None | Some(Value::Null), detail) => {
                sum.insert(key.clone(), detail.clone());
            }
            (Some(Value::Object(sum)), Value::Object(details)) => add_details(sum, details),
            (Some(Value::Number(sum)), Value::Number(number)) => {
                if let Some(added) = add(sum, number) {
                    *sum = added;
                }
            }
            _ => {}
        }
    }
}

/// Adds two numbers. Returns `None` if the sum is infinite.
fn add(a: &Number, b: &Number) -> Option<Number> {
    match (a.as_u64(), b.as_u64()) {
        (Some(a), Some(b)) => Some(a.saturating_add(b).into()),
        _ => Number::from_f64(a.as_f64()? + b.as_f64()?),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Usage;

    fn sum<const N: usize>(usages: [serde_json::Value; N]) -> serde_json::Value {
        let mut sum = Usage::default();
        for usage in usages {
            sum += &serde_json::from_value(usage).unwrap();
        }
        serde_json::to_value(sum).unwrap()
    }

    #[test]
    fn details_are_added() {
        let details = |cache_read: u64| json!({"cache_read": cache_read, "audio": 1});
        assert_eq!(
            sum([
                json!({"input_tokens": 9, "output_tokens": 2, "total_tokens": 11, "input_token_details": details(4), "cost": 0.5}),
                json!({"input_tokens": 5, "output_tokens": 1, "total_tokens": 6, "tier": "default"}),
                json!({
                    "input_tokens": 1, "output_tokens": 1, "total_tokens": 2, "input_token_details": details(3),
                    "output_token_details": {"reasoning": 1}, "cost": 1, "tier": "flex",
                }),
            ]),
            json!({
                "input_tokens": 15, "output_tokens": 4, "total_tokens": 19,
                "input_token_details": {"cache_read": 7, "audio": 2}, "output_token_details": {"reasoning": 1},
                "cost": 1.5, "tier": "default",
            })
        );
    }

    #[test]
    fn sums_saturate_and_stay_finite() {
        let usage = |count: u64| json!({"input_tokens": u64::MAX, "d": {"count": count, "share": f64::MAX}});
        let expected = json!({
            "input_tokens": u64::MAX, "output_tokens": 0, "total_tokens": 0,
            "d": {"count": u64::MAX, "share": f64::MAX},
        });
        assert_eq!(sum([usage(u64::MAX), usage(2)]), expected);
        assert_eq!(sum([json!({"d": null}), json!({"d": 1}), json!({"d": "x"})])["d"], 1);
    }
}
