//! Ids of interrupts and idempotency keys: parts separated by `/`.

use std::fmt::Write as _;

/// Returns the id of an interrupt, made of the task's id, the question's name, and its number or key.
pub(crate) fn question(task: &str, name: &str, which: Which<'_>) -> String {
    match which {
        Which::Nth(nth) => format!("{task}/{}/{nth}", escaped(name)),
        // No number starts with `=`.
        Which::Key(key) => format!("{task}/{}/={}", escaped(name), escaped(key)),
    }
}

/// Identifies one of a task's questions of the same name.
#[derive(Clone, Copy)]
pub(crate) enum Which<'k> {
    Nth(usize),
    Key(&'k str),
}

/// Returns `true` if the id is that of a question of this task itself.
pub(crate) fn is_of(id: &str, task: &str) -> bool {
    let rest = id.strip_prefix(task).and_then(|rest| rest.strip_prefix('/'));
    // The questions of its error handler have one part more.
    rest.is_some_and(|rest| rest.split('/').count() == 2)
}

/// Returns `true` if the id is that of a question inside the task's subgraph call, and the call is not stored.
pub(crate) fn is_inside(id: &str, task: &str) -> bool {
    id.strip_prefix(task).is_some_and(|rest| rest.starts_with('>'))
}

/// Returns the id of the timer of a question that expires: the nth in the attempt for this question.
pub(crate) fn deadline(question: &str, nth: usize) -> String {
    // No sleep has such an id.
    format!("?{nth}/{question}")
}

/// Returns an idempotency key, made of the run's scope, the task's id and the step's key.
pub(crate) fn idempotency(scope: &str, task: &str, key: &str) -> String {
    format!("{}/{task}/{}", escaped(scope), escaped(key))
}

/// Escapes `/`. Different strings stay different.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '/' | '%' => {
                let _ = write!(out, "%{:02X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{Which, idempotency, question};

    #[test]
    fn different_questions_have_different_ids() {
        let mut ids = Vec::new();
        for task in ["1:0", "1:1", "11:0"] {
            for name in ["A", "A/0", "A%2F0", "A/=k", "", "0"] {
                ids.extend((0..3).map(|nth| question(task, name, Which::Nth(nth))));
                for key in ["", "0", "=", "/", "k/=k", "%2F"] {
                    ids.push(question(task, name, Which::Key(key)));
                }
            }
        }
        let count = ids.len();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), count);
    }

    #[test]
    fn ids_are_readable() {
        assert_eq!(question("2:0", "Approve", Which::Nth(1)), "2:0/Approve/1");
        assert_eq!(question("2:0", "Approve", Which::Key("a/b")), "2:0/Approve/=a%2Fb");
        assert_eq!(idempotency("ticket/17", "2:0", "pay"), "ticket%2F17/2:0/pay");
    }
}
