//! What is given back: quotations with their sources, and a text made of them.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use crate::question::Part;
use crate::quote::Quotation;

/// An answer and what it stands on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// For people to read; cites its sources as `file:line`.
    pub text: String,
    /// What it stands on, in the order of the question's parts, best first.
    pub quotations: Vec<Quotation>,
}

/// The quotations of all parts, in the order of the parts; a line that answers two of them is quoted for the first.
pub fn collect(mut quotations: Vec<Quotation>) -> Vec<Quotation> {
    quotations.sort_by_key(|quotation| quotation.part);
    let mut seen = BTreeSet::new();
    quotations.retain(|quotation| seen.insert((quotation.file.clone(), quotation.line)));
    quotations
}

/// An answer in the documents' own words.
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
            let hint = if elsewhere { "nothing that is not quoted above" } else { "nothing found" };
            let _ = writeln!(text, "   {hint}");
        }
        for quotation in own {
            let _ = writeln!(text, "   “{}” — {}", quotation.text.trim(), quotation.source());
        }
    }
    Answer { text, quotations }
}

/// An answer that a model wrote, with the sources that it cites as `[1]`, `[2]` … below it.
pub fn written(reply: &str, quotations: Vec<Quotation>) -> Answer {
    let cited = citations(reply);
    let mut text = format!("{}\n\n", reply.trim());
    if cited.iter().any(|number| *number == 0 || *number > quotations.len()) {
        text.push_str("(the model cites numbers that stand for no source)\n");
    }
    let uncited = !(1..=quotations.len()).any(|number| cited.contains(&number));
    if uncited {
        text.push_str("(the model cites none of its sources)\n");
    }
    for (number, quotation) in (1..).zip(&quotations) {
        if uncited || cited.contains(&number) {
            let _ = writeln!(text, "[{number}] {}", quotation.source());
        }
    }
    Answer { text, quotations }
}

/// The numbers in square brackets: `[2]`, also `[1, 3]`.
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
    fn quotations_follow_the_parts_and_no_line_is_quoted_twice() {
        let all = collect(vec![quotation(1, 7), quotation(0, 9), quotation(1, 9), quotation(0, 3)]);
        let order: Vec<_> = all.iter().map(|quotation| (quotation.part, quotation.line)).collect();
        assert_eq!(order, [(0, 9), (0, 3), (1, 7)]);
    }

    #[test]
    fn one_part_needs_no_heading() {
        let answer = extract(&[part("Why")], vec![quotation(0, 3)]);
        assert_eq!(answer.text, "   “line 3” — docs/a.md:3\n");
    }

    #[test]
    fn every_part_is_listed_also_without_an_answer() {
        let answer = extract(&[part("Why"), part("How"), part("When")], vec![quotation(1, 3)]);
        assert_eq!(
            answer.text,
            "1. Why\n   nothing found\n\n2. How\n   “line 3” — docs/a.md:3\n\n3. When\n   nothing that is not quoted above\n"
        );
    }

    #[test]
    fn a_written_answer_lists_what_it_cites() {
        let sources = vec![quotation(0, 3), quotation(0, 5)];
        assert_eq!(written("So it is [2].\n", sources).text, "So it is [2].\n\n[2] docs/a.md:5\n");
    }

    #[test]
    fn citations_that_lead_nowhere_are_said_to() {
        let answer = written("It is [7].", vec![quotation(0, 3)]);
        assert!(answer.text.contains("stand for no source") && answer.text.contains("[1] docs/a.md:3"));
        let answer = written("It is.", vec![quotation(0, 3)]);
        assert!(answer.text.contains("cites none") && answer.text.contains("[1] docs/a.md:3"));
    }

    #[test]
    fn numbers_in_brackets_are_citations() {
        assert_eq!(citations("a [1], b [2, 3] [x] [4"), BTreeSet::from([1, 2, 3]));
    }
}
