use crate::corpus::Passage;

/// A sentence and its first line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sentence {
    pub(crate) line: usize,
    pub(crate) text: String,
    pub(crate) code: bool,
}

/// Returns the sentences of a passage. Prose may continue over line breaks. A list item, a table row or a line of code starts a new
/// sentence.
pub(crate) fn sentences(passage: &Passage) -> Vec<Sentence> {
    let mut sentences = Vec::new();
    let mut open: Option<Sentence> = None;
    for line in &passage.lines {
        let (text, begins) = if line.code { (line.text.trim_end(), true) } else { strip_markers(&line.text) };
        if begins {
            sentences.extend(open.take());
        }
        if line.code {
            sentences.push(Sentence { line: line.number, text: text.to_owned(), code: true });
            continue;
        }
        for part in split_sentences(text) {
            match &mut open {
                Some(sentence) => {
                    sentence.text.push(' ');
                    sentence.text.push_str(part);
                }
                None => open = Some(Sentence { line: line.number, text: part.to_owned(), code: false }),
            }
            if ends_sentence(part) {
                sentences.extend(open.take());
            }
        }
    }
    sentences.extend(open);
    sentences.retain(|sentence| sentence.text.chars().any(char::is_alphanumeric));
    sentences
}

/// Removes the markers of lists and quotes from a line. The flag is `true` if the line starts a list item or is a table row.
fn strip_markers(line: &str) -> (&str, bool) {
    let line = line.trim();
    if line.starts_with('|') {
        return (line.trim_matches('|').trim(), true);
    }
    let unquoted = line.trim_start_matches('>').trim_start();
    let bullet = ["- ", "* ", "+ "].into_iter().find_map(|mark| unquoted.strip_prefix(mark));
    let numbered = || {
        let rest = unquoted.trim_start_matches(|letter: char| letter.is_ascii_digit());
        let item = rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") "))?;
        (rest.len() < unquoted.len()).then_some(item)
    };
    match bullet.or_else(numbered) {
        Some(item) => (item.trim_start(), true),
        None => (unquoted, false),
    }
}

/// Splits a line after each end of a sentence.
fn split_sentences(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = rest
            .match_indices(' ')
            .find(|(space, _)| {
                let (before, after) = rest.split_at(*space);
                // "e.g. this": a lower-case letter continues the sentence.
                ends_sentence(before) && !after.trim_start().starts_with(|char: char| char.is_lowercase())
            })
            .map_or(rest.len(), |(space, _)| space);
        let (sentence, after) = rest.split_at(end);
        rest = after.trim_start();
        Some(sentence)
    })
}

fn ends_sentence(text: &str) -> bool {
    // The mark may be inside a closing quote, bracket or emphasis.
    text.trim_end_matches(['"', '”', '\'', ')', '*', '_', '`']).ends_with(['.', '!', '?'])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::Line;

    #[track_caller]
    fn check(text: &str, expected: &[(usize, &str)]) {
        check_lines(text, false, expected);
    }

    #[track_caller]
    fn check_lines(text: &str, code: bool, expected: &[(usize, &str)]) {
        let lines = (1..).zip(text.lines());
        let lines = lines.map(|(number, text)| Line { number, text: text.to_owned(), code }).collect();
        let passage = Passage { file: "f.md".to_owned(), headings: Vec::new(), lines };
        let found = sentences(&passage);
        let found: Vec<_> = found.iter().map(|s| (s.line, s.text.as_str())).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn sentences_end_at_punctuation() {
        check("One. Two! Three?", &[(1, "One."), (1, "Two!"), (1, "Three?")]);
        check(
            "He said \"no.\" Then (he left.) End",
            &[(1, "He said \"no.\""), (1, "Then (he left.)"), (1, "End")],
        );
    }

    #[test]
    fn sentences_continue_over_line_breaks() {
        check(
            "A sentence that\ncontinues. Another\none.",
            &[(1, "A sentence that continues."), (2, "Another one.")],
        );
    }

    #[test]
    fn full_stop_inside_a_word_ends_no_sentence() {
        check(
            "Use v1.2 of `serde_json.rs`, e.g. this one.",
            &[(1, "Use v1.2 of `serde_json.rs`, e.g. this one.")],
        );
    }

    #[test]
    fn list_items_and_table_rows_start_sentences() {
        check("- one\n- two\n  continued\n1. three", &[(1, "one"), (2, "two continued"), (4, "three")]);
        check("| a | b |\n|---|---|\n| c. D | d |", &[(1, "a | b"), (3, "c."), (3, "D | d")]);
        check("> quoted\n> text", &[(1, "quoted text")]);
    }

    #[test]
    fn each_line_of_code_is_a_sentence() {
        check_lines("  let a = b. c;\n\n}\nrun();", true, &[(1, "  let a = b. c;"), (4, "run();")]);
    }
}
