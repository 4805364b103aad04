//! `agent` in several processes, with a question in between.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use super::{folder, stdout};

fn agent(home: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_agent"));
    command.args(arguments).args(["--db", "threads.db", "--folder", "files"]);
    for name in ["OPENAI_BASE_URL", "OPENAI_API_KEY", "OPENAI_MODEL"] {
        command.env_remove(name);
    }
    command.current_dir(home).stdin(Stdio::null()).output().unwrap()
}

#[test]
fn file_is_deleted_only_after_a_yes_of_another_process() {
    for (answer, deleted) in [("--yes", true), ("--no", false)] {
        let home = folder(&[("files/old.txt", b"a checkpoint"), ("files/new.txt", b"bread")]);
        let old = home.path().join("files/old.txt");
        let asked = agent(home.path(), &[]);
        assert!(asked.status.success(), "{asked:?}");
        let text = stdout(&asked);
        for line in ["calculate: 391", "search_files: old.txt", "asks    may I delete `old.txt`?", "waits"] {
            assert!(text.contains(line), "{text}");
        }
        assert!(old.exists());
        let answered = agent(home.path(), &[answer]);
        assert!(answered.status.success(), "{answered:?}");
        assert!(stdout(&answered).contains("Here you are: 391; old.txt; "), "{answered:?}");
        assert_eq!(old.exists(), !deleted);
        // No open question is left.
        assert_eq!(stdout(&agent(home.path(), &[answer])), "");
    }
}

#[test]
fn new_message_abandons_an_open_question() {
    let home = folder(&[("files/old.txt", b"a checkpoint")]);
    agent(home.path(), &[]);
    let again = agent(home.path(), &["And now?"]);
    assert!(again.status.success(), "{again:?}");
    assert!(stdout(&again).contains("may I delete `old.txt`?"));
    assert!(home.path().join("files/old.txt").exists());
    assert!(stdout(&agent(home.path(), &["--yes"])).contains("deleted `old.txt`"));
}
