//! Answers: quotations with their sources, formatted for people.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use crate::question::Part;
use crate::quote::Quotation;

/// An answer and its quotations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The text for people. It cites sources as `file:line`.
    pub text: String,
    /// The quotations, in the order of the question's parts, and best first for each part.
    pub quotations: Vec<Quotation>,
}

/// Orders the quotations by part. A line that answers two parts is quoted only for the first.
pub fn collect(mut quotations: Vec<Quotation>) -> Vec<Quotation> {
    quotations.sort_by_key(|quotation| quotation.part);
    let mut seen = BTreeSet::new();
    quotations.retain(|quotation| seen.insert((quotation.file.clone(), quotation.line)));
    quotations
}

/// Creates an answer from quotations only.
pub fn extract(parts: &[Part], quotations: Vec<Quotation>) -> Answer {
    let mut text = String::new();
    for (number, part) in parts.iter().enumerate() {
        let own: Vec<_> = quotations.iter().filter(|quotation| quotation.part == number).collect();
        if parts.len() > 1 {
            let blank = if number > 0 { "\n" } else { "" };
            let _ = writeln!(text, "{blank}{}. {}", number + 1, part.text);
        }
        if own.is_empty() && parts.len() > 1 {
            let elsewhere = quotations.iter().any(|quotation| quotation.part < number);
            let hint = if elsewhere { "no other quotations than above" } else { "nothing found" };
            let _ = writeln!(text, "   {hint}");
        }
        for quotation in own {
            let _ = writeln!(text, "   “{}” — {}", quotation.text.trim(), quotation.source());
        }
    }
    Answer { text, quotations }
}

/// Creates an answer from a model's reply, followed by the sources that the reply cites as `[1]`, `[2]` ….
pub fn written(reply: &str, quotations: Vec<Quotation>) -> Answer {
    let cited = citations(reply);
    let mut text = format!("{}\n\n", reply.trim());
    if cited.iter().any(|number| *number == 0 || *number > quotations.len()) {
        text.push_str("(the model cites sources that do not exist)\n");
    }
    let uncited = !(1..=quotations.len()).any(|number| cited.contains(&number));
    if uncited {
        text.push_str("(the model cites no source)\n");
    }
    for (number, quotation) in (1..).zip(&quotations) {
        if uncited || cited.contains(&number) {
            let _ = writeln!(text, "[{number}] {}", quotation.source());
        }
    }
    Answer { text, quotations }
}

/// Returns the numbers in square brackets, such as `[2]` and `[1, 3]`.
fn citations(text: &str) -> BTreeSet<usize> {
    let brackets = text.split('[').skip(1).filter_map(|rest| rest.split_once(']'));
    brackets
        .flat_map(|(inside, _)| inside.split(',').filter_map(|number| number.trim().parse().ok()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quotation(part: usize, line: usize) -> Quotation {
        Quotation { part, file: "docs/a.md".to_owned(), line, text: format!("line {line}"), relevance: 1.0 }
    }

    fn part(text: &str) -> Part {
        Part { text: text.to_owned(), words: Vec::new() }
    }

    #[test]
    fn quotations_are_ordered_by_part_without_duplicates() {
        let all = collect(vec![quotation(1, 7), quotation(0, 9), quotation(1, 9), quotation(0, 3)]);
        let order: Vec<_> = all.iter().map(|quotation| (quotation.part, quotation.line)).collect();
        assert_eq!(order, [(0, 9), (0, 3), (1, 7)]);
    }

    #[test]
    fn single_part_has_no_heading() {
        let answer = extract(&[part("Why")], vec![quotation(0, 3)]);
        assert_eq!(answer.text, "   “line 3” — docs/a.md:3\n");
    }

    #[test]
    fn parts_without_an_answer_are_listed() {
        let answer = extract(&[part("Why"), part("How"), part("When")], vec![quotation(1, 3)]);
        assert_eq!(
            answer.text,
            "1. Why\n   nothing found\n\n2. How\n   “line 3” — docs/a.md:3\n\n3. When\n   no other quotations than above\n"
        );
    }

    #[test]
    fn model_answer_lists_only_cited_sources() {
        let sources = vec![quotation(0, 3), quotation(0, 5)];
        assert_eq!(written("So it is [2].\n", sources).text, "So it is [2].\n\n[2] docs/a.md:5\n");
    }

    #[test]
    fn invalid_and_missing_citations_are_reported() {
        let answer = written("It is [7].", vec![quotation(0, 3)]);
        assert!(
            answer.text.contains("cites sources that do not exist")
                && answer.text.contains("[1] docs/a.md:3")
        );
        let answer = written("It is.", vec![quotation(0, 3)]);
        assert!(answer.text.contains("cites no source") && answer.text.contains("[1] docs/a.md:3"));
    }

    #[test]
    fn numbers_in_brackets_are_citations() {
        assert_eq!(citations("a [1], b [2, 3] [x] [4"), BTreeSet::from([1, 2, 3]));
    }
}
