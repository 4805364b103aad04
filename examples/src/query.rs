//! One search for one part of a question.

use serde::{Deserialize, Serialize};

use crate::question::Part;

/// A query for one part of a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Query {
    /// The index of the part.
    pub part: usize,
    /// The stems to search for. Rewriting drops some of them.
    pub stems: Vec<String>,
    /// All stems of the question, with corrected spelling. The relevance of a passage is measured by them.
    pub meant: Vec<String>,
}

impl Query {
    /// Creates the first query for a part of a question.
    pub fn new(number: usize, part: &Part) -> Self {
        let stems: Vec<_> = part.words.iter().map(|word| word.stem.clone()).collect();
        Self { part: number, meant: stems.clone(), stems }
    }
}
