use examples::answer::Answer;
use examples::grade::Grade;
use examples::index::Hit;
use examples::query::Query;
use examples::question::Part;
use serde::{Deserialize, Serialize};
use superstep::GraphState;
use superstep::interrupt::Question;

/// The state of the graph: a question on its way to an answer.
#[derive(GraphState, Clone, Debug)]
pub(crate) struct Inquiry {
    /// The question.
    #[state(input, validate(length(min = 1, max = 4_000)))]
    pub(crate) question: String,

    /// The parts of the question.
    pub(crate) parts: Vec<Part>,

    /// All searches. Several tasks write this field in one superstep, so it needs a reducer. The order is that of the packets, not
    /// that in which the tasks finish.
    #[state(reducer = append)]
    pub(crate) searches: Vec<Search>,

    /// The queries to rewrite, because they found too little.
    pub(crate) weak: Vec<Query>,

    /// The parts for which the user was asked for other words.
    #[state(reducer = append)]
    pub(crate) consulted: Vec<usize>,

    /// The answer. Stays `None` if the documents contain none.
    pub(crate) answer: Option<Answer>,
}

/// A search and its result.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Search {
    pub(crate) query: Query,
    pub(crate) grade: Grade,
    pub(crate) hits: Vec<Hit>,
}

/// The question to the user if nothing was found for a part: which other words to search for. An empty answer means none.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct OtherWords {
    /// The text of the part.
    pub(crate) part: String,
    /// The number of searches for it.
    pub(crate) searches: usize,
}

impl Question for OtherWords {
    type Answer = String;
}

impl Inquiry {
    /// Returns the searches for one part of the question, in order.
    pub(crate) fn searches_for(&self, part: usize) -> impl DoubleEndedIterator<Item = &Search> {
        self.searches.iter().filter(move |search| search.query.part == part)
    }

    /// Returns the parts without a quotation, for which the user was not asked yet.
    pub(crate) fn unanswered(&self) -> impl Iterator<Item = (usize, &Part)> {
        self.parts.iter().enumerate().filter(|(number, _)| {
            let found = self.searches_for(*number).any(|search| search.hits.iter().any(Hit::is_relevant));
            !found && !self.consulted.contains(number)
        })
    }
}

impl Search {
    /// Returns the relevance of the best passage.
    pub(crate) fn relevance(&self) -> f32 {
        self.hits.iter().map(|hit| hit.relevance).fold(0.0, f32::max)
    }
}
