//! One search for one part of a question.

use serde::{Deserialize, Serialize};

use crate::question::Part;

/// What is searched for, and what was meant by it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Query {
    /// Which part of the question it is for.
    pub part: usize,
    /// The stems to search for; rewriting makes them fewer.
    pub stems: Vec<String>,
    /// The stems of the question, with spelling mended but nothing given up: what an answer is measured by.
    pub meant: Vec<String>,
}

impl Query {
    /// The first query for a part of a question.
    pub fn new(number: usize, part: &Part) -> Self {
        let stems: Vec<_> = part.words.iter().map(|word| word.stem.clone()).collect();
        Self { part: number, meant: stems.clone(), stems }
    }
}
