//! The programs from outside: arguments and folders in; stdout, stderr and exit code out.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "the functions that tests share fail a test as the tests themselves do"
)]

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

const GUIDE: &str = "\
# Guide

A superstep is all nodes that were planned together.
They run at the same time and
see the state as it was before.

## Joins

A join waits for all of its sources.
";

fn folder(files: &[(&str, &[u8])]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    folder
}

fn guide() -> TempDir {
    folder(&[("docs/guide.md", GUIDE.as_bytes()), ("weather.txt", b"Rain is expected in the north.\n")])
}

fn command(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ask"));
    command.current_dir(folder).env_remove("CARGO_MANIFEST_DIR").stdin(Stdio::null());
    // The threads of a test are in a hidden folder next to its documents. Hidden files are not read.
    let temporary = !Path::new(env!("CARGO_MANIFEST_DIR")).starts_with(folder);
    let threads = if temporary {
        folder.join(".threads")
    } else {
        Path::new(env!("CARGO_TARGET_TMPDIR")).join("threads")
    };
    command.env("XDG_STATE_HOME", threads);
    for name in ["OPENAI_BASE_URL", "OPENAI_API_KEY", "OPENAI_MODEL"] {
        command.env_remove(name);
    }
    command
}

fn ask(folder: &Path, arguments: &[&str]) -> Output {
    command(folder).args(arguments).output().unwrap()
}

fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).unwrap()
}

fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).unwrap()
}

/// Checks that the program failed with this code and message, and printed no answer.
#[track_caller]
fn fails(output: &Output, code: i32, message: &str) {
    assert_eq!(output.status.code(), Some(code), "{}", stderr(output));
    assert!(stderr(output).contains(message), "{}", stderr(output));
    assert_eq!(stdout(output), "");
}

/// Checks every `“quotation” — file:line` of the answer against the file, and returns their number.
#[track_caller]
fn citations_hold(folder: &Path, answer: &str) -> usize {
    let mut count = 0;
    for citation in answer.lines().filter_map(|line| line.trim().strip_prefix('“')) {
        let (quotation, source) = citation.rsplit_once("” — ").unwrap();
        let (file, line) = source.rsplit_once(':').unwrap();
        let text = fs::read_to_string(folder.join(file)).unwrap();
        let from_line: Vec<_> = text.lines().skip(line.parse::<usize>().unwrap() - 1).collect();
        let quotation: Vec<_> = quotation.trim_end_matches('…').split_whitespace().collect();
        let start = quotation.iter().take(3).copied().collect::<Vec<_>>().join(" ");
        assert!(from_line[0].contains(&start), "{source} does not contain {start}");
        let words: Vec<_> = from_line.iter().flat_map(|line| line.split_whitespace()).collect();
        assert!(words.join(" ").contains(&quotation.join(" ")), "{source} does not contain {quotation:?}");
        count += 1;
    }
    count
}

#[test]
fn answer_quotes_with_file_and_line() {
    let folder = guide();
    let output = ask(folder.path(), &["What is a superstep, and what is a join?", "."]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(
        stdout(&output),
        "1. What is a superstep\n   “A superstep is all nodes that were planned together.” — docs/guide.md:3\n\n\
         2. what is a join\n   “A join waits for all of its sources.” — docs/guide.md:9\n"
    );
    assert_eq!(citations_hold(folder.path(), stdout(&output)), 2);
}

#[test]
fn sentence_over_two_lines_is_cited_by_the_first() {
    let folder = guide();
    let output = ask(folder.path(), &["which state do they see at the same time?", "."]);
    assert_eq!(
        stdout(&output),
        "   “They run at the same time and see the state as it was before.” — docs/guide.md:4\n"
    );
    assert_eq!(citations_hold(folder.path(), stdout(&output)), 1);
}

#[test]
fn progress_is_printed_node_by_node() {
    let folder = guide();
    let output = ask(folder.path(), &["what is a supersetp?", "."]);
    let nodes: Vec<_> = stderr(&output).lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(
        nodes,
        ["thread", "reading", "plan", "search", "grade", "rewrite", "search", "grade", "compose"]
    );
}

#[test]
fn same_question_gives_the_same_answer() {
    let folder = guide();
    let arguments = ["What is a join? What is a superstep? Is rain expected? What do nodes see?", "."];
    let first = ask(folder.path(), &arguments);
    for _ in 0..5 {
        assert_eq!(stdout(&ask(folder.path(), &arguments)), stdout(&first));
    }
}

#[test]
fn json_prints_the_final_state() {
    let folder = guide();
    let output = ask(folder.path(), &["--json", "What is a join?", "."]);
    assert!(output.status.success(), "{}", stderr(&output));
    let state: Value = serde_json::from_str(stdout(&output)).unwrap();
    assert_eq!(state["question"], "What is a join?");
    assert_eq!(state["searches"][0]["grade"], "good");
    assert_eq!(state["answer"]["quotations"][0]["file"], "docs/guide.md");
    assert_eq!(state["answer"]["quotations"][0]["line"], 9);
}

#[test]
fn json_without_an_answer_prints_the_state_and_fails() {
    let folder = guide();
    ask(folder.path(), &["How do zebras dance?", "."]);
    let output = ask(folder.path(), &["--json", "--resume", ""]);
    assert_eq!(output.status.code(), Some(1));
    let state: Value = serde_json::from_str(stdout(&output)).unwrap();
    assert_eq!(state["answer"], Value::Null);
    assert!(stderr(&output).contains("answers `How do zebras dance?`"), "{}", stderr(&output));
}

#[test]
fn diagram_needs_no_folder() {
    let empty = folder(&[]);
    let mermaid = ask(empty.path(), &["--graph", "mermaid"]);
    assert!(mermaid.status.success());
    assert!(stdout(&mermaid).starts_with("flowchart TD\n"));
    for node in ["plan", "search", "grade", "rewrite", "consult", "compose"] {
        assert!(stdout(&mermaid).contains(&format!("[\"{node}\"]")), "{}", stdout(&mermaid));
    }
    let dot = ask(empty.path(), &["--graph", "dot"]);
    assert!(dot.status.success());
    assert!(stdout(&dot).starts_with("digraph \"ask\" {\n"));
}

#[test]
fn default_folder_is_the_markdown_of_the_workspace() {
    let workspace = folder(&[
        ("README.md", b"There are seven reducers.\n"),
        ("docs/wiring.md", b"Wiring mistakes are reported all at once.\n"),
        ("docs/dumps.md", b"Excluded fields are in no dump.\n"),
        ("src/lib.rs", b"// reducers, reducers, reducers\n"),
        ("target/doc/x.md", b"reducers\n"),
        ("package/Cargo.toml", b""),
    ]);
    // Started in the root of the workspace, and started by cargo with the folder of a package.
    let by_folder = ask(workspace.path(), &[]);
    let by_cargo =
        command(Path::new("/")).env("CARGO_MANIFEST_DIR", workspace.path().join("package")).output().unwrap();
    for output in [by_folder, by_cargo] {
        assert!(output.status.success(), "{}", stderr(&output));
        assert!(stdout(&output).contains("— README.md:1\n"), "{}", stdout(&output));
        assert!(stdout(&output).contains("— docs/wiring.md:1\n"), "{}", stdout(&output));
        assert!(stderr(&output).contains("3 files"), "{}", stderr(&output));
    }
}

#[test]
fn default_question_is_answered_by_this_repository() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = command(package).env("CARGO_MANIFEST_DIR", package).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    for part in ["1. Which reducers", "\n2. how are wiring mistakes", "\n3. how are confidential"] {
        let (_, answer) = stdout(&output).split_once(part).unwrap();
        let (_, first) = answer.split_once('\n').unwrap();
        assert!(first.starts_with("   “"), "{part}: {first}");
    }
    assert!(citations_hold(package.parent().unwrap(), stdout(&output)) >= 3);
    assert!(stderr(&output).contains("rewrite"), "{}", stderr(&output));
}

#[test]
fn unreadable_files_are_listed_and_skipped() {
    let folder = folder(&[
        ("a.md", b"A join waits for all of its sources.\n"),
        ("binary.md", b"join\0join"),
        ("latin.txt", b"join caf\xe9\n"),
        ("picture.png", b"\x89PNG join"),
    ]);
    let output = ask(folder.path(), &["What is a join?", "."]);
    assert!(output.status.success());
    for file in ["binary.md", "latin.txt", "picture.png"] {
        assert!(stderr(&output).contains(&format!("skipped   `{file}`")), "{}", stderr(&output));
    }
}

#[test]
fn many_other_files_are_counted() {
    let names: Vec<_> = (0..8).map(|number| format!("{number}.png")).collect();
    let mut files: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), b"x".as_slice())).collect();
    files.push(("a.md", b"A join waits for all of its sources.\n"));
    let folder = folder(&files);
    let output = ask(folder.path(), &["What is a join?", "."]);
    assert!(
        stderr(&output).contains("`4.png`") && !stderr(&output).contains("`5.png`"),
        "{}",
        stderr(&output)
    );
    assert!(
        stderr(&output).contains("skipped   3 more (not a text or markdown file)"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn folder_without_documents_is_a_failure() {
    let empty = folder(&[]);
    fails(&ask(empty.path(), &["What is a join?", "."]), 1, "error: no text to read in `.`");
    let binary = folder(&[("a.bin", b"\0")]);
    fails(&ask(binary.path(), &["What is a join?", "."]), 1, "`a.bin` (not a text or markdown file)");
    fails(
        &ask(empty.path(), &["What is a join?", "nowhere"]),
        1,
        "error: there is no folder or file `nowhere`",
    );
}

#[test]
fn no_match_asks_the_user_and_then_fails() {
    let folder = guide();
    let asked = ask(folder.path(), &["How do zebras dance?", "."]);
    fails(&asked, 3, "nothing found for “How do zebras dance” (1 search)");
    fails(&ask(folder.path(), &["--resume", ""]), 1, "answers `How do zebras dance?`");
}

#[test]
fn question_without_words_is_a_failure() {
    let folder = guide();
    fails(&ask(folder.path(), &["what is it?", "."]), 1, "no word to search for in `what is it?`");
    fails(&ask(folder.path(), &["", "."]), 1, "field `question` breaks `length");
}

#[test]
fn invalid_arguments_print_the_usage() {
    let folder = guide();
    fails(&ask(folder.path(), &["--nope"]), 2, "Usage: ask");
    fails(&ask(folder.path(), &["--graph", "png"]), 2, "[possible values: mermaid, dot]");
    fails(&ask(folder.path(), &["--graph", "dot", "--json"]), 2, "cannot be used with");
    fails(&ask(folder.path(), &["a", ".", "b"]), 2, "unexpected argument 'b'");
    fails(&ask(folder.path(), &["--resume", "yes", "a"]), 2, "cannot be used with");
}

#[test]
fn closed_stdout_is_not_a_failure() {
    let folder = guide();
    let mut child = command(folder.path())
        .args(["--json", "What is a join?", "."])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
}

#[cfg(not(feature = "openai"))]
#[test]
fn endpoint_without_the_feature_prints_a_note() {
    let folder = guide();
    let output = command(folder.path())
        .env("OPENAI_API_KEY", "secret")
        .args(["What is a join?", "."])
        .output()
        .unwrap();
    assert!(output.status.success());
    assert!(stderr(&output).contains("built without the feature `openai`"), "{}", stderr(&output));
    assert!(!stderr(&output).contains("secret"));
}

#[test]
fn invalid_endpoint_url_is_a_failure() {
    let folder = guide();
    let output = command(folder.path())
        .env("OPENAI_BASE_URL", "here")
        .args(["What is a join?", "."])
        .output()
        .unwrap();
    fails(&output, 1, "error: OPENAI_BASE_URL must begin with");
}

mod agent;
mod database;
#[cfg(feature = "openai")]
mod model;
mod numbered;
mod serve;
mod threads;
