use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::json::null_is_default;

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
    /// Adds the counts. Details stay as they are.
    fn add_assign(&mut self, other: &Self) {
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.total_tokens = self.total_tokens.saturating_add(other.total_tokens);
    }
}
