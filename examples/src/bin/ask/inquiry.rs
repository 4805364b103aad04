use examples::answer::Answer;
use examples::grade::Grade;
use examples::index::Hit;
use examples::query::Query;
use examples::question::Part;
use serde::{Deserialize, Serialize};
use superstep::GraphState;
use superstep::interrupt::Question;

/// A question on its way to an answer: the state of the graph, and what a thread holds.
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

    /// The parts for which a person has been asked for other words.
    #[state(reducer = append)]
    pub(crate) consulted: Vec<usize>,

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

/// Asked of a person, when the documents seem to have nothing on a part of the question. The answer is other words to search
/// for; an empty one says that there are none.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct OtherWords {
    /// The part, in the asker's words.
    pub(crate) part: String,
    /// How many searches there have been for it.
    pub(crate) searches: usize,
}

impl Question for OtherWords {
    type Answer = String;
}

impl Inquiry {
    /// The searches for one part of the question, in the order in which they were made.
    pub(crate) fn searches_for(&self, part: usize) -> impl DoubleEndedIterator<Item = &Search> {
        self.searches.iter().filter(move |search| search.query.part == part)
    }

    /// The parts that would go without a quotation, and for which nobody has been asked yet.
    pub(crate) fn unanswered(&self) -> impl Iterator<Item = (usize, &Part)> {
        self.parts.iter().enumerate().filter(|(number, _)| {
            let found = self.searches_for(*number).any(|search| search.hits.iter().any(Hit::is_relevant));
            !found && !self.consulted.contains(number)
        })
    }
}

impl Search {
    /// The relevance of its best passage.
    pub(crate) fn relevance(&self) -> f32 {
        self.hits.iter().map(|hit| hit.relevance).fold(0.0, f32::max)
    }
}
