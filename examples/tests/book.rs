//! The book in `docs/` is complete, its links resolve, and the names in it exist.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "the functions that tests share fail a test as the tests themselves do"
)]

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
        let inline = line.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
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

#[test]
fn reference_lists_every_error_kind_and_event() {
    let errors = read("docs/reference/errors.md");
    let kinds = match_results("graph-core/src/error");
    let kinds: Vec<_> = kinds.iter().filter(|kind| kind.starts_with(char::is_uppercase)).collect();
    assert!(kinds.len() > 30, "{kinds:?}");
    let missing: Vec<_> = kinds.iter().filter(|kind| !errors.contains(&format!("| `{kind}`"))).collect();
    assert!(missing.is_empty(), "docs/reference/errors.md does not explain {missing:?}");

    let events = read("docs/reference/events.md");
    let types = match_results("graph-core/src/stream");
    assert!(types.len() > 14, "{types:?}");
    let missing: Vec<_> = types.iter().filter(|name| !events.contains(&format!("| `{name}` |"))).collect();
    assert!(missing.is_empty(), "docs/reference/events.md does not explain {missing:?}");
}

/// Methods of other crates, and of the prelude, that the prose of the book names.
const FOREIGN_METHODS: [&str; 4] = ["downcast_ref", "map_err", "spawn", "to_owned"];
#[test]
fn methods_in_prose_exist() {
    let methods = methods();
    let mut unknown = Vec::new();
    for page in all_pages() {
        for (line, span) in code_spans(&read(&page)) {
            for (at, _) in span.match_indices('.') {
                let name: String =
                    span[at + 1..].chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                let is_call = span[at + 1 + name.len()..].starts_with('(');
                if is_call
                    && !name.is_empty()
                    && !methods.contains(&name)
                    && !FOREIGN_METHODS.contains(&&*name)
                {
                    unknown.push(format!("{}:{line}: `{name}` in `{span}`", page.display()));
                }
            }
        }
    }
    assert!(unknown.is_empty(), "methods that do not exist:\n  {}", unknown.join("\n  "));
}

/// Names of other crates that stand in paths in the prose of the book.
const FOREIGN_NAMES: [&str; 4] = ["anyhow", "axum", "serve", "try_join"];

#[test]
fn paths_in_prose_exist() {
    let in_sources = words(source_folders().iter().flat_map(|folder| sources(folder)));
    let mut unknown = Vec::new();
    for page in all_pages() {
        let text = read(&page);
        let on_page = words(code_blocks(&text));
        let is_known = |name: &str| {
            // A derive of an example makes `TicketInput` and so on.
            let stem = ["Input", "Update", "Output"].iter().find_map(|suffix| name.strip_suffix(suffix));
            [Some(name), stem]
                .into_iter()
                .flatten()
                .any(|name| in_sources.contains(name) || on_page.contains(name))
                || name.starts_with("My")
                || FOREIGN_NAMES.contains(&name)
        };
        for (line, span) in code_spans(&text) {
            for path in span.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')) {
                let mut names = path.split("::").filter(|name| !name.is_empty() && !name.contains(':'));
                if path.contains("::") && !names.all(is_known) {
                    unknown.push(format!("{}:{line}: `{path}`", page.display()));
                }
            }
        }
    }
    assert!(unknown.is_empty(), "paths that do not exist:\n  {}", unknown.join("\n  "));
}

/// The strings that the arms of a `match` return in the files of a folder: `=> "name",`.
fn match_results(folder: &str) -> BTreeSet<String> {
    let mut results = BTreeSet::new();
    for text in sources(&root().join(folder)) {
        for (_, rest) in
            text.match_indices("=> \"").filter_map(|(at, mark)| text.split_at_checked(at + mark.len()))
        {
            if let Some((result, _)) = rest.split_once("\",\n")
                && result.chars().all(|c| c.is_alphanumeric() || c == '_')
            {
                results.insert(result.to_owned());
            }
        }
    }
    results
}

/// The names of all functions in the sources of the workspace.
fn methods() -> BTreeSet<String> {
    let texts = source_folders().into_iter().flat_map(|folder| sources(&folder));
    let names = texts.flat_map(|text| {
        let names = text.split("fn ").skip(1);
        names
            .map(|name| name.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect())
            .collect::<Vec<_>>()
    });
    names.collect()
}

fn words(texts: impl IntoIterator<Item = String>) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    for text in texts {
        words.extend(text.split(|c: char| !(c.is_alphanumeric() || c == '_')).map(str::to_owned));
    }
    words
}

/// The lines of a page that are code.
fn code_blocks(text: &str) -> Vec<String> {
    let mut in_code = false;
    let lines = text.lines().filter(|line| {
        in_code ^= line.trim_start().starts_with("```");
        in_code
    });
    lines.map(str::to_owned).collect()
}

fn source_folders() -> Vec<PathBuf> {
    let folders = fs::read_dir(root()).unwrap().map(|folder| folder.unwrap().path().join("src"));
    folders.filter(|folder| folder.is_dir()).collect()
}

fn sources(folder: &Path) -> Vec<String> {
    let files = walkdir::WalkDir::new(folder).into_iter().map(|file| file.unwrap().into_path());
    let files = files.filter(|path| path.extension().is_some_and(|extension| extension == "rs"));
    files.map(|path| fs::read_to_string(path).unwrap()).collect()
}

/// The code spans of a page with their lines, without the first column of tables about other libraries and about mistakes.
fn code_spans(text: &str) -> Vec<(usize, String)> {
    const OTHERS: [&str; 6] =
        ["LangGraph", "pydantic-graph", "Temporal", "GraphBuilder", "stream_mode", "mistake"];
    let (mut in_code, mut in_table, mut of_another) = (false, false, false);
    let mut spans = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        in_code ^= line.trim_start().starts_with("```");
        if in_code {
            continue;
        }
        let row = line.starts_with('|');
        if row && !in_table {
            of_another =
                OTHERS.iter().any(|name| line.split('|').nth(1).is_some_and(|cell| cell.contains(name)));
        }
        in_table = row;
        let line = if row && of_another {
            line.splitn(3, " | ").skip(1).collect::<Vec<_>>().join(" | ")
        } else {
            line.to_owned()
        };
        spans.extend(line.split('`').skip(1).step_by(2).map(|span| (number, span.to_owned())));
    }
    spans
}
