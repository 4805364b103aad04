//! Splitting a question into its parts.

use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::words::{Word, words};

/// One part of a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// The text of the part.
    pub text: String,
    /// The words to search for.
    pub words: Vec<Word>,
}

/// The maximum number of parts. Further parts are ignored.
const MAX_PARTS: usize = 8;

/// Words that start a new part after "and" or a comma.
const OPENERS: [&str; 26] = [
    "are", "can", "could", "describe", "did", "do", "does", "explain", "has", "have", "how", "is", "list",
    "must", "shall", "should", "tell", "was", "were", "what", "when", "where", "which", "who", "whose",
    "why",
];
const CONJUNCTIONS: [&str; 5] = ["&", "and", "but", "or", "then"];
/// Words that refer to the previous part.
const PRONOUNS: [&str; 8] = ["it", "its", "one", "that", "their", "them", "they", "this"];

/// Splits a question at question marks, semicolons, line ends, and before "and how", "or why" and the like.
///
/// ```
/// let parts = examples::question::parts("What is a join, and when does it fail?")?;
/// assert_eq!(parts[0].text, "What is a join");
/// assert_eq!(parts[1].text, "when does it fail");
/// // "it" stands for the join.
/// assert_eq!(parts[1].words.iter().map(|word| word.stem.as_str()).collect::<Vec<_>>(), ["fail", "join"]);
/// # Ok::<(), examples::Error>(())
/// ```
///
/// # Errors
/// [`Error::NoWords`], if the question contains only stop words.
pub fn parts(question: &str) -> Result<Vec<Part>, Error> {
    let mut parts: Vec<Part> = Vec::new();
    for text in question.split(['?', ';', '\n']).flat_map(clauses) {
        let own = words(&text);
        if own.is_empty() {
            continue;
        }
        let mut part = Part { text, words: Vec::new() };
        let previous = parts.last().map(|part| part.words.as_slice()).unwrap_or_default();
        let inherited = if refers_back(&part.text) { previous } else { &[] };
        for word in own.iter().chain(inherited) {
            if !part.words.iter().any(|known| known.stem == word.stem) {
                part.words.push(word.clone());
            }
        }
        if parts.len() < MAX_PARTS && !parts.contains(&part) {
            parts.push(part);
        }
    }
    if parts.is_empty() {
        return Err(Error::NoWords { question: question.trim().to_owned() });
    }
    Ok(parts)
}

/// Splits a sentence at each conjunction or comma that a question word follows.
fn clauses(sentence: &str) -> Vec<String> {
    let mut clauses = vec![Vec::new()];
    let mut rest = sentence.split_whitespace().peekable();
    while let Some(token) = rest.next() {
        let opens = |next: Option<&&str>| next.is_some_and(|next| OPENERS.contains(&plain(next).as_str()));
        let flow = if CONJUNCTIONS.contains(&plain(token).as_str()) && opens(rest.peek()) {
            ControlFlow::Break(None)
        } else if token.ends_with(',') && opens(rest.peek()) {
            ControlFlow::Break(Some(token))
        } else {
            ControlFlow::Continue(token)
        };
        match (flow, clauses.last_mut()) {
            (ControlFlow::Continue(token), Some(clause)) => clause.push(token),
            (ControlFlow::Break(last), Some(clause)) => {
                clause.extend(last);
                clauses.push(Vec::new());
            }
            (_, None) => {}
        }
    }
    let text = |clause: Vec<&str>| clause.join(" ").trim_matches([',', '.', '!', ' ']).to_owned();
    clauses.into_iter().map(text).filter(|text| !text.is_empty()).collect()
}

fn refers_back(text: &str) -> bool {
    text.split_whitespace().any(|token| PRONOUNS.contains(&plain(token).as_str()))
}

fn plain(token: &str) -> String {
    token.trim_matches(|letter: char| letter.is_ascii_punctuation() && letter != '&').to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(question: &str, expected: &[(&str, &[&str])]) {
        let found = parts(question).unwrap();
        let found: Vec<(&str, Vec<&str>)> = found
            .iter()
            .map(|part| (part.text.as_str(), part.words.iter().map(|word| word.stem.as_str()).collect()))
            .collect();
        let expected: Vec<(&str, Vec<&str>)> =
            expected.iter().map(|(text, words)| (*text, words.to_vec())).collect();
        assert_eq!(found, expected, "{question}");
    }

    #[test]
    fn one_question_is_one_part() {
        check("What is a superstep?", &[("What is a superstep", &["superstep"])]);
        check("input and output", &[("input and output", &["input", "output"])]);
    }

    #[test]
    fn question_marks_semicolons_and_lines_split() {
        check(
            "What is a node? What is an edge; routes\njoins",
            &[
                ("What is a node", &["node"]),
                ("What is an edge", &["edg"]),
                ("routes", &["rout"]),
                ("joins", &["join"]),
            ],
        );
    }

    #[test]
    fn conjunction_splits_only_before_a_question() {
        check(
            "How are state and input related and why does validation fail",
            &[
                ("How are state and input related", &["state", "input", "relat"]),
                ("why does validation fail", &["valid", "fail"]),
            ],
        );
        check(
            "which reducers exist, how are errors shown",
            &[("which reducers exist", &["reduc", "exist"]), ("how are errors shown", &["error", "shown"])],
        );
    }

    #[test]
    fn pronoun_adds_the_words_of_the_previous_part() {
        check(
            "What is a packet and how is it sent?",
            &[("What is a packet", &["packet"]), ("how is it sent", &["sent", "packet"])],
        );
    }

    #[test]
    fn empty_and_repeated_parts_are_left_out() {
        check("join? What is a join? What is a join?", &[("join", &["join"]), ("What is a join", &["join"])]);
        check("Why? What is a join?", &[("What is a join", &["join"])]);
    }

    #[test]
    fn question_without_words_is_an_error() {
        for question in ["", "  ", "What is it?", "?!", "and"] {
            assert!(matches!(parts(question), Err(Error::NoWords { .. })), "{question}");
        }
    }
}
