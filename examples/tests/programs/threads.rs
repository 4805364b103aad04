//! `ask` in several processes: resume, history and fork.

use std::io::{Read as _, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::{GUIDE, ask, command, fails, folder, guide, stderr, stdout};

/// Returns the rows of a thread's history without the table header: id, step, source and next node.
fn history(folder: &Path, arguments: &[&str]) -> Vec<[String; 4]> {
    let output = ask(folder, &[&["--history"], arguments].concat());
    let rows = stdout(&output).lines().skip(1);
    let column = |row: &str, column| row.split_whitespace().nth(column).unwrap().to_owned();
    rows.map(|row| [0, 1, 2, 3].map(|number| column(row, number))).collect()
}

/// Returns the next node of each checkpoint, oldest first.
fn path(history: &[[String; 4]]) -> String {
    let next: Vec<_> = history.iter().rev().map(|[_, _, _, next]| next.as_str()).collect();
    next.join(" ")
}

#[test]
fn answer_in_another_process_continues_the_run() {
    let folder = guide();
    let asked = ask(folder.path(), &["--thread", "zebra", "How do zebras dance? What is a superstep?", "."]);
    fails(&asked, 3, "ask --thread zebra --resume 'other words'");
    // Neither another thread nor a resume without an answer changes anything.
    assert!(ask(folder.path(), &["What is a join?", "."]).status.success());
    fails(&ask(folder.path(), &["--thread", "zebra", "--resume"]), 3, "“How do zebras dance” (1 search)");

    // From another folder: the metadata of the thread contains the folder of its documents.
    let elsewhere = tempfile::tempdir().unwrap();
    let db = folder.path().join(".threads/ask/threads.db");
    let arguments = ["--db", db.to_str().unwrap(), "--thread", "zebra", "--resume", "sources of joins"];
    let output = ask(elsewhere.path(), &arguments);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(
        stdout(&output),
        "1. How do zebras dance\n   “A join waits for all of its sources.” — docs/guide.md:9\n\n\
         2. What is a superstep\n   “A superstep is all nodes that were planned together.” — docs/guide.md:3\n"
    );
    let nodes: Vec<_> = stderr(&output).lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(nodes, ["thread", "reading", "consult", "search", "grade", "compose"]);

    // A second answer finds no open interrupt. A resume of the finished thread prints the answer again.
    fails(
        &ask(elsewhere.path(), &arguments),
        1,
        "no open question matches `OtherWords`: no question is open",
    );
    let again = ask(folder.path(), &["--thread", "zebra", "--resume"]);
    assert_eq!(stdout(&again), stdout(&output));
}

#[test]
fn killed_run_resumes_without_repeating_searches() {
    let folder = guide();
    let question = "What is a superstep, and what is a join?";
    let (mut reader, mut writer) = std::io::pipe().unwrap();
    // The pipe for stderr has room only up to the searches, and the test does not read it. So the program blocks in the middle of its
    // run until it is killed.
    writer.write_all(&[b'.'; 65_536 - 185]).unwrap();
    let mut child = command(folder.path())
        .args(["--thread", "k", question, "."])
        .stdout(Stdio::null())
        .stderr(writer)
        .spawn()
        .unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    while history(folder.path(), &["--thread", "k"]).len() < 4 {
        assert!(Instant::now() < deadline && child.try_wait().unwrap().is_none(), "no search was stored");
    }
    child.kill().unwrap();
    assert_eq!(child.wait().unwrap().signal(), Some(9));
    let mut progress = String::new();
    reader.read_to_string(&mut progress).unwrap();
    let progress = progress.trim_start_matches('.');
    assert!(progress.contains("plan") && !progress.contains("compose"), "{progress}");

    let killed = history(folder.path(), &["--thread", "k"]);
    assert!(path(&killed).starts_with("START plan search grade"), "{killed:?}");
    let output = ask(folder.path(), &["--json", "--resume"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(!stderr(&output).contains("search "), "{}", stderr(&output));
    let state: Value = serde_json::from_str(stdout(&output)).unwrap();
    assert_eq!(state["searches"].as_array().unwrap().len(), 2);
    assert_eq!(state["answer"]["quotations"].as_array().unwrap().len(), 2);
    let whole = history(folder.path(), &["--thread", "k"]);
    assert_eq!(whole[whole.len() - killed.len()..], killed);
    assert_eq!(path(&whole), "START plan search grade compose end");
}

#[test]
fn run_killed_after_any_line_gives_the_same_answer() {
    let folder = guide();
    let question = "What is a supersetp, and what is a join?";
    let whole = ask(folder.path(), &[question, "."]);
    let lines = stderr(&whole).lines().count();
    for line in 3..=lines {
        let name = line.to_string();
        let mut child = command(folder.path())
            .args(["--thread", &name, question, "."])
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut progress = std::io::BufReader::new(child.stderr.take().unwrap());
        for _ in 0..line {
            std::io::BufRead::read_line(&mut progress, &mut String::new()).unwrap();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let output = ask(folder.path(), &["--thread", &name, "--resume"]);
        assert_eq!(stdout(&output), stdout(&whole), "killed after line {line}: {}", stderr(&output));
    }
}

#[test]
fn history_lists_the_changes_of_each_step() {
    let folder = guide();
    ask(folder.path(), &["--thread", "h", "How do zebras dance? What is a join?", "."]);
    let output = ask(folder.path(), &["--thread", "h", "--history"]);
    let rows: Vec<Vec<_>> =
        stdout(&output).lines().map(|row| row.split_whitespace().skip(1).collect()).collect();
    assert_eq!(
        rows.iter().map(|row| row.join(" ")).collect::<Vec<_>>(),
        [
            "STEP SOURCE NEXT CHANGED",
            "4 loop consult (consult asks OtherWords)",
            "3 loop rewrite weak+1",
            "2 loop grade searches+2",
            "1 loop search ×2 parts+2",
            "0 loop plan question",
            "-1 input START -",
        ]
    );
}

#[test]
fn fork_adds_a_branch_and_keeps_the_first() {
    let folder = guide();
    ask(folder.path(), &["--thread", "f", "What is a join?", "."]);
    let first = history(folder.path(), &["--thread", "f"]);
    assert_eq!(path(&first), "START plan search grade compose end");

    // Run again from the checkpoint after the search, with changed documents.
    let [grading, ..] = first.iter().find(|[_, _, _, next]| next == "grade").unwrap();
    std::fs::write(folder.path().join("docs/guide.md"), GUIDE.replace("all of its sources", "nothing"))
        .unwrap();
    let output = ask(folder.path(), &["--thread", "f", "--fork", &grading[18..]]);
    assert_eq!(stdout(&output), "   “A join waits for nothing.” — docs/guide.md:9\n", "{}", stderr(&output));
    let forked = history(folder.path(), &["--thread", "f"]);
    assert_eq!(forked[forked.len() - first.len()..], first);
    assert_eq!(forked[forked.len() - first.len() - 1][2], "fork");
    let shown = ask(folder.path(), &["--thread", "f", "--history"]);
    assert!(stdout(&shown).contains(&format!("(branch of {})", &grading[20..])), "{}", stdout(&shown));

    // Ask another question at the same checkpoint.
    let output = ask(folder.path(), &["--thread", "f", "--fork", grading, "Where is rain expected?", "."]);
    assert_eq!(stdout(&output), "   “Rain is expected in the north.” — weather.txt:1\n");
}

#[test]
fn missing_threads_and_checkpoints_are_reported() {
    let folder = folder(&[("a.md", b"A join waits.\n")]);
    fails(&ask(folder.path(), &["--resume"]), 1, "error: there is no thread yet: ask a question first");
    fails(&ask(folder.path(), &["--history", "--thread", "x"]), 1, "error: there is no thread `x`");
    fails(&ask(folder.path(), &["--resume", "--thread", "x"]), 1, "thread `x` has no checkpoint yet");
    ask(folder.path(), &["What is a join?", "."]);
    fails(&ask(folder.path(), &["--fork", "nope"]), 1, "has no checkpoint `nope`: see `--history`");
    fails(&ask(folder.path(), &["--db", ".", "What is a join?", "."]), 1, "cannot store threads in `.`");
}
