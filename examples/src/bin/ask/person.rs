//! The person in front of the program: is asked, or told how to answer later.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::Path;

use crate::inquiry::OtherWords;

/// What the question is, for people.
fn shown(question: &OtherWords) -> String {
    let OtherWords { part, searches } = question;
    let s = if *searches == 1 { "" } else { "es" };
    format!(
        "the documents seem to have nothing on “{part}” ({searches} search{s}): what else may they call it?"
    )
}

/// Asks on the terminal. `None` where there is none, or when the person leaves: then it is answered later.
pub(crate) fn ask(question: &OtherWords) -> io::Result<Option<String>> {
    eprintln!("question  {}", shown(question));
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        return Ok(None);
    }
    eprint!("          other words (nothing, if there are none): ");
    io::stderr().flush()?;
    let mut line = String::new();
    if io::stdin().read_line(&mut line)? == 0 {
        eprintln!();
        return Ok(None);
    }
    Ok(Some(line.trim().to_owned()))
}

/// Says how a thread goes on once there is an answer.
pub(crate) fn answer_later(thread: &str, db: Option<&Path>) {
    let command = command(thread, db);
    eprintln!("waiting   thread `{thread}` goes on with other words, or with none:");
    eprintln!("            {command} --resume 'other words'");
    eprintln!("            {command} --resume ''");
}

/// Says how a thread goes on that has stopped half-way.
pub(crate) fn go_on_later(thread: &str, db: Option<&Path>) {
    eprintln!("stopped   what has finished is kept; the rest is run by:");
    eprintln!("            {} --resume", command(thread, db));
}

/// How this program was started, and for which thread.
fn command(thread: &str, db: Option<&Path>) -> String {
    let by_cargo = std::env::var_os("CARGO_MANIFEST_DIR").is_some();
    let program = if by_cargo { "cargo run -p examples --bin ask --" } else { "ask" };
    let db = db.map(|db| format!(" --db {}", quoted(&db.to_string_lossy()))).unwrap_or_default();
    format!("{program}{db} --thread {}", quoted(thread))
}

/// As a shell reads it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_can_be_pasted_into_a_shell() {
        assert_eq!(quoted("k3x9qm"), "k3x9qm");
        assert_eq!(quoted("two words"), "'two words'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
    }
}
