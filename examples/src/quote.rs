//! The sentences of a passage that answer best, word for word, with the line on which each begins.

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
    /// Which part of the question it answers.
    pub part: usize,
    /// The file's path below the folder.
    pub file: String,
    /// The line on which it begins, from 1.
    pub line: usize,
    /// The document's words; line breaks are spaces.
    pub text: String,
    /// How much of what was meant stands in it and around it, from 0 to 1.
    pub relevance: f32,
}

impl Quotation {
    /// `file:line`, as editors and terminals understand it.
    pub fn source(&self) -> String {
        format!("{}:{}", self.file, self.line)
    }
}

/// More than this for one part is a pile, not an answer.
const MOST_PER_PART: usize = 3;
/// A sentence longer than this is cut.
const LONGEST: usize = 320;

/// A quotation worth less than this share of the best one would only water it down.
const WORTH: f32 = 0.6;

/// The best quotations for one part of the question, best first, none twice.
pub fn quotations(index: &Index, query: &Query, hits: &[Hit]) -> Vec<Quotation> {
    let top = hits.iter().map(|hit| hit.score).fold(f32::MIN_POSITIVE, f32::max);
    let relevant = hits.iter().filter(|hit| hit.is_relevant());
    let mut candidates: Vec<_> = relevant.filter_map(|hit| of_passage(index, query, hit, top)).collect();
    // Stable: equally good ones stay in the order of the hits.
    candidates.sort_by(|a, b| b.relevance.total_cmp(&a.relevance));
    let best = candidates.first().map_or(0.0, |best| best.relevance);
    let mut seen: Vec<BTreeSet<String>> = Vec::new();
    candidates.retain(|candidate| {
        let own = stems(&candidate.text);
        let new = candidate.relevance >= WORTH * best && !seen.iter().any(|other| repeats(&own, other));
        if new {
            seen.push(own);
        }
        new
    });
    candidates.truncate(MOST_PER_PART);
    candidates
}

/// Whether two sentences have most of their words in common: a document likes to say in its summary what it said before.
fn repeats(a: &BTreeSet<String>, b: &BTreeSet<String>) -> bool {
    let shared = a.intersection(b).count();
    let all = a.len() + b.len() - shared;
    shared * 5 >= all * 3
}

/// The passage's best sentence. What the sentence says counts most; the passage around it and the rank of that passage
/// decide between sentences that say as much.
fn of_passage(index: &Index, query: &Query, hit: &Hit, top: f32) -> Option<Quotation> {
    let passage = index.passage(hit)?;
    let (own, sentence) = sentences(passage)
        .into_iter()
        .map(|sentence| (says(index, query, &sentence), sentence))
        .filter(|(own, _)| *own > 0.0)
        // The first of the best: `max_by` would give the last.
        .reduce(|best, next| if next.0 > best.0 { next } else { best })?;
    Some(Quotation {
        part: query.part,
        file: passage.file.clone(),
        line: sentence.line,
        text: shortened(sentence.text),
        relevance: 0.6 * own + 0.2 * hit.relevance + 0.2 * hit.score / top,
    })
}

/// How much of what was meant a sentence says, from 0 to 1.
fn says(index: &Index, query: &Query, sentence: &Sentence) -> f32 {
    let words = words(&sentence.text);
    let all = words.iter().map(|word| word.stem.clone()).collect();
    let mut says = covered(index, &query.meant, &all);
    // What a sentence is about comes first in it: "a join waits" is about joins, "it may wait for a join" is not.
    if !words.iter().take(2).any(|word| query.meant.contains(&word.stem)) {
        says *= 0.8;
    }
    // Code shows; it seldom says.
    if sentence.code {
        says *= 0.6;
    }
    // Of a sentence that has to be cut nobody knows whether the words are in what is left.
    if sentence.text.chars().count() > LONGEST {
        says *= 0.5;
    }
    says
}

fn shortened(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(LONGEST) {
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

    fn quoted(corpus: &[&str], asked: &str) -> Vec<(usize, String)> {
        let index = index(corpus);
        let wanted: Vec<_> = stems(asked).into_iter().collect();
        let query = Query { part: 0, meant: wanted.clone(), stems: wanted };
        let hits = index.search(&query, 10).unwrap();
        quotations(&index, &query, &hits).into_iter().map(|q| (q.line, q.text)).collect()
    }

    #[test]
    fn the_sentence_that_says_most_is_quoted() {
        let corpus =
            ["Nodes are functions. A superstep is all nodes planned together. It ends.", "Unrelated."];
        assert_eq!(
            quoted(&corpus, "superstep nodes"),
            [(1, "A superstep is all nodes planned together.".to_owned())]
        );
    }

    #[test]
    fn the_best_come_first_and_no_more_than_three() {
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
    fn what_says_much_less_than_the_best_is_left_out() {
        let corpus = ["alpha", "alpha beta", "alpha beta gamma", "alpha gamma", "delta"];
        assert_eq!(quoted(&corpus, "alpha beta gamma"), [(3, "alpha beta gamma".to_owned())]);
    }

    #[test]
    fn the_same_words_are_quoted_once() {
        let corpus = ["A join waits.", "The *join* waits!", "other", "more", "text"];
        assert_eq!(quoted(&corpus, "join"), [(1, "A join waits.".to_owned())]);
        let corpus =
            ["A join waits for four named sources.", "A join waits for five named sources.", "x", "y"];
        assert_eq!(quoted(&corpus, "join").len(), 1);
    }

    #[test]
    fn a_passage_that_shares_a_common_word_is_not_quoted() {
        let corpus = ["graph one", "graph two", "graph three", "graph zoo"];
        assert_eq!(quoted(&corpus, "graph zebra giraffe"), []);
    }

    #[test]
    fn long_sentences_are_cut_between_words() {
        let text = "superstep ".repeat(80);
        let found = quoted(&[&text], "superstep");
        let text = &found[0].1;
        assert!(text.ends_with("superstep…") && text.chars().count() <= LONGEST + 1, "{text}");
        assert_eq!(shortened("é".repeat(400)).chars().count(), LONGEST + 1);
    }
}
