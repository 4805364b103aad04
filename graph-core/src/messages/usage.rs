use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::json::null_is_default;

/// How many tokens a reply has cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Usage {
    /// Read by the model.
    #[serde(default, deserialize_with = "null_is_default")]
    pub input_tokens: u64,
    /// Written by the model.
    #[serde(default, deserialize_with = "null_is_default")]
    pub output_tokens: u64,
    /// Both.
    #[serde(default, deserialize_with = "null_is_default")]
    pub total_tokens: u64,
    /// What else is said of it, such as `input_token_details`.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl Usage {
    /// So many tokens read and written.
    pub fn new(input_tokens: u64, output_tokens: u64) -> Self {
        let total_tokens = input_tokens.saturating_add(output_tokens);
        Self { input_tokens, output_tokens, total_tokens, extra: Map::new() }
    }
}

impl std::ops::AddAssign<&Self> for Usage {
    /// Adds the counts; details are kept as they are.
    fn add_assign(&mut self, other: &Self) {
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.total_tokens = self.total_tokens.saturating_add(other.total_tokens);
    }
}
