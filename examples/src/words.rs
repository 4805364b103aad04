//! Words as the index knows them: lower case, stemmed, without stop words.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use tantivy::tokenizer::{Language, LowerCaser, SimpleTokenizer, Stemmer, StopWordFilter, TextAnalyzer};

/// A word that is not a stop word.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Word {
    /// The word as it was written.
    pub text: String,
    /// The stem for the search: `run` for `Running`.
    pub stem: String,
}

/// Common words of questions and grammar. They occur everywhere and do not help to find an answer.
const STOP_WORDS: &str = "a about above after again all also am an and any are as at be because been before being below \
    between both but by can could d did do does doing don done down during each explain few for from further get gets had happen happened happens has \
    have having he her here hers him his how i if in into is it its just let ll m may me mean means might more most must my no nor \
    not now of off on once only or other our out over own please re s same shall she should show so some such t tell than \
    that the their them then there these they this those through to too under until up upon us ve very was we were what \
    when where which while who whom whose why will with would you your";

static ANALYZER: LazyLock<TextAnalyzer> = LazyLock::new(|| {
    TextAnalyzer::builder(SimpleTokenizer::default())
        .filter(LowerCaser)
        .filter(StopWordFilter::remove(STOP_WORDS.split_whitespace().map(str::to_owned)))
        .filter(Stemmer::new(Language::English))
        .build()
});

/// Returns the analyzer of both the index and the questions. With different analyzers, words would not match.
pub(crate) fn analyzer() -> TextAnalyzer {
    ANALYZER.clone()
}

/// Returns the words of a string without stop words, in order.
///
/// ```
/// let words = examples::words::words("What is the Recursion limit?");
/// assert_eq!(words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>(), ["Recursion", "limit"]);
/// ```
pub fn words(text: &str) -> Vec<Word> {
    let mut analyzer = analyzer();
    let mut stream = analyzer.token_stream(text);
    let mut words = Vec::new();
    while let Some(token) = stream.next() {
        let original = text.get(token.offset_from..token.offset_to).unwrap_or(&token.text);
        words.push(Word { text: original.to_owned(), stem: token.text.clone() });
    }
    words
}

/// Returns the stems of a string.
pub fn stems(text: &str) -> BTreeSet<String> {
    words(text).into_iter().map(|word| word.stem).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let found: Vec<_> = words(text).into_iter().map(|word| word.stem).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn words_are_lower_case_stems() {
        check("Running reducers", &["run", "reduc"]);
        check("APPENDED, append; appends!", &["append", "append", "append"]);
    }

    #[test]
    fn code_is_split_into_words() {
        check("`add_messages(..)` / state::update", &["add", "messag", "state", "updat"]);
    }

    #[test]
    fn stop_words_are_removed() {
        check("What is it, and why don't they?", &[]);
        check("", &[]);
    }

    #[test]
    fn other_scripts_are_supported() {
        check("Zustandsübergang état граф", &["zustandsübergang", "état", "граф"]);
    }
}
