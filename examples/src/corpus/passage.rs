use std::mem;

/// A few lines that belong together, such as a paragraph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage {
    /// The path of the file inside the folder.
    pub file: String,
    /// The headings of the passage, outermost first.
    pub headings: Vec<String>,
    /// The lines of the passage.
    pub lines: Vec<Line>,
}

/// One line of a passage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The line number, from 1.
    pub number: usize,
    /// The text without the line break.
    pub text: String,
    /// `true` if the line is in a fenced code block.
    pub code: bool,
}

impl Passage {
    /// Returns the number of the first line.
    pub fn first_line(&self) -> usize {
        self.lines.first().map_or(0, |line| line.number)
    }

    /// Returns the lines as one string.
    pub fn text(&self) -> String {
        let lines: Vec<_> = self.lines.iter().map(|line| line.text.as_str()).collect();
        lines.join("\n")
    }
}

/// The maximum number of lines. Longer paragraphs are split.
const MAX_LINES: usize = 16;
/// The number of lines after which a list is split before its next item, so that `MAX_LINES` does not split an item.
const MAX_LIST_LINES: usize = 6;

/// Splits a document at blank lines and headings. Fenced blocks are split only at the maximum length.
pub(super) fn passages(file: &str, text: &str) -> Vec<Passage> {
    let mut splitter = Splitter { file, headings: Vec::new(), lines: Vec::new(), passages: Vec::new() };
    let mut fence: Option<&str> = None;
    for (number, text) in (1..).zip(text.trim_start_matches('\u{feff}').lines()) {
        let mark = fence_mark(text);
        match (fence, mark) {
            (None, Some(mark)) => {
                splitter.finish();
                fence = Some(mark);
            }
            (Some(open), Some(mark)) if mark.starts_with(open) => {
                splitter.finish();
                fence = None;
            }
            (Some(_), _) => splitter.line(number, text, true),
            (None, None) => splitter.prose(number, text),
        }
    }
    splitter.finish();
    splitter.passages
}

struct Splitter<'a> {
    file: &'a str,
    /// Level and text.
    headings: Vec<(usize, String)>,
    lines: Vec<Line>,
    passages: Vec<Passage>,
}

impl Splitter<'_> {
    fn prose(&mut self, number: usize, text: &str) {
        if let Some((level, words)) = heading(text) {
            self.finish();
            self.headings.retain(|(above, _)| *above < level);
            self.headings.push((level, words.to_owned()));
        } else if text.trim().is_empty() {
            self.finish();
        } else {
            if self.lines.len() >= MAX_LIST_LINES && is_item(text) {
                self.finish();
            }
            self.line(number, text, false);
        }
    }

    fn line(&mut self, number: usize, text: &str, code: bool) {
        if self.lines.len() == MAX_LINES {
            self.finish();
        }
        self.lines.push(Line { number, text: text.to_owned(), code });
    }

    fn finish(&mut self) {
        let lines = mem::take(&mut self.lines);
        if lines.iter().all(|line| line.text.trim().is_empty()) {
            return;
        }
        let headings = self.headings.iter().map(|(_, words)| words.clone()).collect();
        self.passages.push(Passage { file: self.file.to_owned(), headings, lines });
    }
}

fn heading(line: &str) -> Option<(usize, &str)> {
    let words = line.trim_start_matches('#');
    let level = line.len() - words.len();
    ((1..=6).contains(&level) && words.starts_with(' '))
        .then(|| (level, words.trim().trim_end_matches('#').trim_end()))
}

/// Returns `true` for a top-level list item or a table row.
fn is_item(line: &str) -> bool {
    let numbered = line.trim_start_matches(|letter: char| letter.is_ascii_digit());
    ["- ", "* ", "+ ", "|"].iter().any(|mark| line.starts_with(mark))
        || numbered.len() < line.len() && numbered.starts_with(['.', ')'])
}

/// Returns the backticks or tildes that open or close a fenced block.
fn fence_mark(line: &str) -> Option<&str> {
    let line = line.trim_start();
    ['`', '~'].into_iter().find_map(|mark| {
        let rest = line.trim_start_matches(mark);
        let run = line.get(..line.len() - rest.len())?;
        // Three backticks around a part of a line are inline code.
        (run.len() >= 3 && !rest.contains('`')).then_some(run)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[(usize, &str, &str)]) {
        let found = passages("f.md", text);
        let found: Vec<_> =
            found.iter().map(|p| (p.first_line(), p.headings.join(" > "), p.text())).collect();
        let found: Vec<_> = found.iter().map(|(n, h, t)| (*n, h.as_str(), t.as_str())).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn paragraphs_are_passages() {
        check("one\ntwo\n\n\nthree\n", &[(1, "", "one\ntwo"), (5, "", "three")]);
    }

    #[test]
    fn headings_nest() {
        check(
            "# A\na\n## B\nb\n### C ###\nc\n## D\nd",
            &[(2, "A", "a"), (4, "A > B", "b"), (6, "A > B > C", "c"), (8, "A > D", "d")],
        );
    }

    #[test]
    fn hash_without_a_space_is_no_heading() {
        check("#hash\n####### seven", &[(1, "", "#hash\n####### seven")]);
    }

    #[test]
    fn fenced_code_keeps_its_blank_lines_and_hashes() {
        check(
            "a\n```sh\n# no heading\n\nls\n```\nb",
            &[(1, "", "a"), (3, "", "# no heading\n\nls"), (7, "", "b")],
        );
        check("~~~\nopen to the end", &[(2, "", "open to the end")]);
    }

    #[test]
    fn byte_order_mark_and_crlf_are_ignored() {
        check("\u{feff}# T\r\n\r\nbody\r\n", &[(3, "T", "body")]);
    }

    #[test]
    fn long_lists_are_split_between_items() {
        let text = "- item\n  continued\n  again\n".repeat(5);
        let firsts: Vec<_> = passages("f", &text).iter().map(Passage::first_line).collect();
        assert_eq!(firsts, [1, 7, 13]);
    }

    #[test]
    fn long_paragraphs_are_split() {
        let text = "line\n".repeat(40);
        let firsts: Vec<_> = passages("f", &text).iter().map(Passage::first_line).collect();
        assert_eq!(firsts, [1, 17, 33]);
    }
}
