//! The best sentences of the found passages, quoted word for word with their lines.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::grade::covered;
use crate::index::{Hit, Index};
use crate::query::Query;
use crate::sentence::{Sentence, sentences};
use crate::words::{stems, words};

/// A sentence of a document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Quotation {
    /// The index of the question's part that it answers.
    pub part: usize,
    /// The path of the file inside the folder.
    pub file: String,
    /// The first line of the sentence, from 1.
    pub line: usize,
    /// The sentence, with spaces instead of line breaks.
    pub text: String,
    /// The relevance of the sentence and its passage, from 0 to 1.
    pub relevance: f32,
}

impl Quotation {
    /// Returns `file:line`, as editors and terminals understand it.
    pub fn source(&self) -> String {
        format!("{}:{}", self.file, self.line)
    }
}

/// The maximum number of quotations for one part.
const MAX_PER_PART: usize = 3;
/// The maximum length of a quotation in characters.
const MAX_CHARS: usize = 320;

/// The minimum relevance of a quotation, as a share of the best one's.
const MIN_SHARE: f32 = 0.6;

/// Returns the best quotations for one part of the question, best first, without repetitions.
pub fn quotations(index: &Index, query: &Query, hits: &[Hit]) -> Vec<Quotation> {
    let top = hits.iter().map(|hit| hit.score).fold(f32::MIN_POSITIVE, f32::max);
    let relevant = hits.iter().filter(|hit| hit.is_relevant());
    let mut candidates: Vec<_> = relevant.filter_map(|hit| best_sentence(index, query, hit, top)).collect();
    // A stable sort keeps equally good ones in the order of the hits.
    candidates.sort_by(|a, b| b.relevance.total_cmp(&a.relevance));
    let best = candidates.first().map_or(0.0, |best| best.relevance);
    let mut seen: Vec<BTreeSet<String>> = Vec::new();
    candidates.retain(|candidate| {
        let own = stems(&candidate.text);
        let new = candidate.relevance >= MIN_SHARE * best && !seen.iter().any(|other| repeats(&own, other));
        if new {
            seen.push(own);
        }
        new
    });
    candidates.truncate(MAX_PER_PART);
    candidates
}

/// Returns `true` if two sentences share most of their words. Summaries often repeat sentences.
fn repeats(a: &BTreeSet<String>, b: &BTreeSet<String>) -> bool {
    let shared = a.intersection(b).count();
    let all = a.len() + b.len() - shared;
    shared * 5 >= all * 3
}

/// Quotes the best sentence of a passage. The coverage of the sentence counts most; the relevance and the rank of its passage decide
/// between similar sentences.
fn best_sentence(index: &Index, query: &Query, hit: &Hit, top: f32) -> Option<Quotation> {
    let passage = index.passage(hit)?;
    let (own, sentence) = sentences(passage)
        .into_iter()
        .map(|sentence| (score(index, query, &sentence), sentence))
        .filter(|(own, _)| *own > 0.0)
        // The first of equally good ones: `max_by` would return the last.
        .reduce(|best, next| if next.0 > best.0 { next } else { best })?;
    Some(Quotation {
        part: query.part,
        file: passage.file.clone(),
        line: sentence.line,
        text: shortened(sentence.text),
        relevance: 0.6 * own + 0.2 * hit.relevance + 0.2 * hit.score / top,
    })
}

/// Returns the score of a sentence for a query, from 0 to 1.
fn score(index: &Index, query: &Query, sentence: &Sentence) -> f32 {
    let words = words(&sentence.text);
    let all = words.iter().map(|word| word.stem.clone()).collect();
    let mut score = covered(index, &query.meant, &all);
    // The topic usually comes first: "a join waits" is about joins, "it may wait for a join" is not.
    if !words.iter().take(2).any(|word| query.meant.contains(&word.stem)) {
        score *= 0.8;
    }
    // Code rarely answers a question.
    if sentence.code {
        score *= 0.6;
    }
    // The words may be in the part that is cut off.
    if sentence.text.chars().count() > MAX_CHARS {
        score *= 0.5;
    }
    score
}

fn shortened(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(MAX_CHARS) {
        text.truncate(end);
        if let Some(space) = text.rfind(' ').filter(|space| *space > end / 2) {
            text.truncate(space);
        }
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::tests::index;

    fn quoted(corpus: &[&str], question: &str) -> Vec<(usize, String)> {
        let index = index(corpus);
        let wanted: Vec<_> = stems(question).into_iter().collect();
        let query = Query { part: 0, meant: wanted.clone(), stems: wanted };
        let hits = index.search(&query, 10).unwrap();
        quotations(&index, &query, &hits).into_iter().map(|q| (q.line, q.text)).collect()
    }

    #[test]
    fn best_sentence_of_a_passage_is_quoted() {
        let corpus =
            ["Nodes are functions. A superstep is all nodes planned together. It ends.", "Unrelated."];
        assert_eq!(
            quoted(&corpus, "superstep nodes"),
            [(1, "A superstep is all nodes planned together.".to_owned())]
        );
    }

    #[test]
    fn at_most_three_quotations_best_first() {
        let corpus = [
            "alpha beta five six ten words here",
            "alpha beta",
            "alpha beta two eight",
            "alpha beta one nine",
            "x",
        ];
        let found: Vec<_> = quoted(&corpus, "alpha beta").into_iter().map(|(line, _)| line).collect();
        assert_eq!(found, [2, 3, 4]);
    }

    #[test]
    fn much_less_relevant_sentences_are_left_out() {
        let corpus = ["alpha", "alpha beta", "alpha beta gamma", "alpha gamma", "delta"];
        assert_eq!(quoted(&corpus, "alpha beta gamma"), [(3, "alpha beta gamma".to_owned())]);
    }

    #[test]
    fn repeated_sentences_are_quoted_once() {
        let corpus = ["A join waits.", "The *join* waits!", "other", "more", "text"];
        assert_eq!(quoted(&corpus, "join"), [(1, "A join waits.".to_owned())]);
        let corpus =
            ["A join waits for four named sources.", "A join waits for five named sources.", "x", "y"];
        assert_eq!(quoted(&corpus, "join").len(), 1);
    }

    #[test]
    fn passage_sharing_only_a_common_word_is_not_quoted() {
        let corpus = ["graph one", "graph two", "graph three", "graph zoo"];
        assert_eq!(quoted(&corpus, "graph zebra giraffe"), []);
    }

    #[test]
    fn long_sentences_are_cut_between_words() {
        let text = "superstep ".repeat(80);
        let found = quoted(&[&text], "superstep");
        let text = &found[0].1;
        assert!(text.ends_with("superstep…") && text.chars().count() <= MAX_CHARS + 1, "{text}");
        assert_eq!(shortened("é".repeat(400)).chars().count(), MAX_CHARS + 1);
    }
}
