//! The book in `docs/` is complete and its links resolve.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

/// The path of a file of the repository, from its root.
type Page = PathBuf;

#[test]
fn summary_lists_every_page() {
    let listed: BTreeSet<Page> = links(&read("docs/SUMMARY.md"))
        .into_iter()
        .map(|(_, target)| Path::new("docs").join(target))
        .collect();
    let mut pages: BTreeSet<Page> = book_pages().into_iter().collect();
    pages.remove(Path::new("docs/SUMMARY.md"));

    let missing: Vec<_> = pages.difference(&listed).collect();
    assert!(missing.is_empty(), "docs/SUMMARY.md does not list {missing:?}");
    let unknown: Vec<_> = listed.difference(&pages).collect();
    assert!(unknown.is_empty(), "docs/SUMMARY.md lists pages that do not exist: {unknown:?}");
}

#[test]
fn relative_links_resolve() {
    let mut broken = Vec::new();
    let mut anchors_of: BTreeMap<Page, BTreeSet<String>> = BTreeMap::new();
    for page in all_pages() {
        for (line, link) in links(&read(&page)) {
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = if file.is_empty() { page.clone() } else { beside(&page, file) };
            if !root().join(&target).exists() {
                broken.push(format!("{}:{line}: no file {}", page.display(), target.display()));
            } else if !anchor.is_empty() {
                let anchors = anchors_of.entry(target.clone()).or_insert_with(|| anchors(&read(&target)));
                if !anchors.contains(anchor) {
                    broken.push(format!(
                        "{}:{line}: no heading #{anchor} in {}",
                        page.display(),
                        target.display()
                    ));
                }
            }
        }
    }
    assert!(broken.is_empty(), "broken links:\n  {}", broken.join("\n  "));
}

#[test]
fn rust_code_is_compiled() {
    let book = read("examples/src/book.rs");
    let compiled: BTreeSet<&str> = book
        .lines()
        .filter_map(|line| line.strip_prefix("#[doc = include_str!(\"../../")?.strip_suffix("\")]"))
        .collect();
    let pages = all_pages();
    let with_code = pages.iter().filter(|page| has_rust(&read(page)));
    let missing: Vec<_> = with_code.filter(|page| !compiled.contains(&*page.to_string_lossy())).collect();
    assert!(missing.is_empty(), "examples/src/book.rs does not include {missing:?}");
}

/// rustdoc takes a code block without a language for Rust.
#[test]
fn code_blocks_name_their_language() {
    let mut unnamed = Vec::new();
    for page in all_pages() {
        for (line, language) in fences(&read(&page)) {
            if language.is_empty() {
                unnamed.push(format!("{}:{line}", page.display()));
            }
        }
    }
    assert!(unnamed.is_empty(), "code blocks without a language: {unnamed:?}");
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

fn read(page: impl AsRef<Path>) -> String {
    let path = root().join(page);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn book_pages() -> Vec<Page> {
    let files = walkdir::WalkDir::new(root().join("docs")).sort_by_file_name().into_iter();
    let pages = files.map(|file| file.unwrap().into_path());
    let pages = pages.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    pages.map(|path| path.strip_prefix(root()).unwrap().to_owned()).collect()
}

fn all_pages() -> Vec<Page> {
    let mut pages = book_pages();
    pages.push(PathBuf::from("README.md"));
    pages
}

/// The target of a relative link on `page`.
fn beside(page: &Path, link: &str) -> Page {
    let mut target = page.parent().unwrap().to_owned();
    for part in Path::new(link).components() {
        match part {
            Component::ParentDir => {
                target.pop();
            }
            Component::CurDir => {}
            other => target.push(other),
        }
    }
    target
}

/// The lines outside of code blocks, with their numbers and without code spans.
fn prose(text: &str) -> Vec<(usize, String)> {
    let mut in_code = false;
    let mut lines = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        } else if !in_code {
            let outside = line.split('`').step_by(2).collect::<Vec<_>>().join("``");
            lines.push((number, outside));
        }
    }
    lines
}

/// The targets of the links of a page, `[..](target)` and `[..]: target`, with their lines.
fn links(text: &str) -> Vec<(usize, String)> {
    let mut links = Vec::new();
    for (number, line) in prose(text) {
        let inline = line.match_indices("](").filter_map(|(at, _)| line[at + 2..].split_once(')'));
        links.extend(inline.map(|(target, _)| (number, target.to_owned())));
        if line.starts_with('[')
            && let Some((_, target)) = line.split_once("]: ")
        {
            links.push((number, target.trim().to_owned()));
        }
    }
    links
}

/// The anchors of a page's headings, as mdBook and GitHub make them.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    let mut in_code = false;
    for line in text.lines() {
        in_code ^= line.trim_start().starts_with("```");
        let heading = line.trim_start_matches('#');
        if in_code || heading.len() == line.len() || !heading.starts_with(' ') {
            continue;
        }
        let letters = heading.trim().chars().filter_map(|c| match c {
            ' ' => Some('-'),
            c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c.to_ascii_lowercase()),
            _ => None,
        });
        let anchor: String = letters.collect();
        let again = (1..).map(|n| format!("{anchor}-{n}")).find(|anchor| !anchors.contains(anchor));
        let anchor = if anchors.contains(&anchor) { again.unwrap() } else { anchor };
        anchors.insert(anchor);
    }
    anchors
}

/// The info strings of the code blocks of a page, with their lines.
fn fences(text: &str) -> Vec<(usize, &str)> {
    let marks = text
        .lines()
        .zip(1..)
        .filter_map(|(line, number)| Some((number, line.trim_start().strip_prefix("```")?.trim())));
    marks.step_by(2).collect()
}

fn has_rust(text: &str) -> bool {
    fences(text).iter().any(|(_, language)| language.split(',').next() == Some("rust"))
}
