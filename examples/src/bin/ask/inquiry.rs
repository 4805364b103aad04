use examples::answer::Answer;
use examples::grade::Grade;
use examples::index::Hit;
use examples::query::Query;
use examples::question::Part;
use graph_core::GraphState;
use serde::{Deserialize, Serialize};

/// A question on its way to an answer: the state of the graph.
#[derive(GraphState, Clone, Debug)]
pub(crate) struct Inquiry {
    /// What was asked.
    #[state(input, validate(length(min = 1, max = 4_000)))]
    pub(crate) question: String,

    /// What it asks for, one by one.
    pub(crate) parts: Vec<Part>,

    /// Every search that was made. Many searches write it in one superstep, hence the reducer; they are appended in the
    /// order in which they were sent, whichever finishes first.
    #[state(reducer = append)]
    pub(crate) searches: Vec<Search>,

    /// Queries that found too little, and are to be rewritten.
    pub(crate) weak: Vec<Query>,

    /// `None` as long as there is none, and for ever when the documents have none.
    pub(crate) answer: Option<Answer>,
}

/// A search and what came of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Search {
    pub(crate) query: Query,
    pub(crate) grade: Grade,
    pub(crate) hits: Vec<Hit>,
}

impl Inquiry {
    /// The searches for one part of the question, in the order in which they were made.
    pub(crate) fn searches_for(&self, part: usize) -> impl DoubleEndedIterator<Item = &Search> {
        self.searches.iter().filter(move |search| search.query.part == part)
    }
}

impl Search {
    /// The relevance of its best passage.
    pub(crate) fn relevance(&self) -> f32 {
        self.hits.iter().map(|hit| hit.relevance).fold(0.0, f32::max)
    }
}
