//! Questions to the user, at the terminal or later.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::Path;

use crate::inquiry::OtherWords;

fn question_text(question: &OtherWords) -> String {
    let OtherWords { part, searches } = question;
    let s = if *searches == 1 { "" } else { "es" };
    format!("nothing found for “{part}” ({searches} search{s}): which other words may the documents use?")
}

/// Asks at the terminal. Returns `None` without a terminal, or if the user closes the input.
pub(crate) fn ask(question: &OtherWords) -> io::Result<Option<String>> {
    eprintln!("question  {}", question_text(question));
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        return Ok(None);
    }
    eprint!("          other words (leave empty if you know none): ");
    io::stderr().flush()?;
    let mut line = String::new();
    if io::stdin().read_line(&mut line)? == 0 {
        eprintln!();
        return Ok(None);
    }
    Ok(Some(line.trim().to_owned()))
}

/// Prints the commands that answer the question later.
pub(crate) fn print_answer_command(thread: &str, db: Option<&Path>) {
    let command = command(thread, db);
    eprintln!("waiting   continue thread `{thread}` with other words, or without:");
    eprintln!("            {command} --resume 'other words'");
    eprintln!("            {command} --resume ''");
}

/// Prints the command that resumes a failed run.
pub(crate) fn print_resume_command(thread: &str, db: Option<&Path>) {
    eprintln!("stopped   finished nodes are stored; run the others with:");
    eprintln!("            {} --resume", command(thread, db));
}

/// Returns a command line that starts this program for a thread.
fn command(thread: &str, db: Option<&Path>) -> String {
    let by_cargo = std::env::var_os("CARGO_MANIFEST_DIR").is_some();
    let program = if by_cargo { "cargo run -p examples --bin ask --" } else { "ask" };
    let db = db.map(|db| format!(" --db {}", shell_quoted(&db.to_string_lossy()))).unwrap_or_default();
    format!("{program}{db} --thread {}", shell_quoted(thread))
}

/// Quotes a word for a shell.
fn shell_quoted(word: &str) -> String {
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
    fn words_are_quoted_for_a_shell() {
        assert_eq!(shell_quoted("k3x9qm"), "k3x9qm");
        assert_eq!(shell_quoted("two words"), "'two words'");
        assert_eq!(shell_quoted("it's"), r"'it'\''s'");
        assert_eq!(shell_quoted(""), "''");
    }
}
