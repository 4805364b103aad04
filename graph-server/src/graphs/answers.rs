use serde_json::Value;
use superstep::interrupt::OpenInterrupt;

use super::interrupt_id;
use crate::api_error::{ApiError, ApiResult};

/// Finds the questions that the `resume` of a command answers, and checks the answers.
///
/// An object whose keys are ids of questions answers these questions. Any other value answers the only open question. If no
/// question is open, such a value answers nothing.
///
/// # Errors
/// Every answer that does not fit, with the reason.
pub(super) fn resolve(open: &[&OpenInterrupt], resume: &Value) -> ApiResult<Vec<(String, Value)>> {
    let mut problems = Vec::new();
    let mut answers = Vec::new();
    if let Some(by_id) = by_id(open, resume) {
        for (id, answer) in by_id {
            match open.iter().find(|open| open.id == *id || interrupt_id(open) == *id) {
                Some(open) => answers.push((*open, answer)),
                None => problems.push(format!("`command.resume.{id}`: no such question is open")),
            }
        }
    } else {
        match open {
            [] => {}
            [only] => answers.push((*only, resume)),
            several => {
                let ids: Vec<_> = several.iter().map(|open| format!("`{}`", interrupt_id(open))).collect();
                problems.push(format!(
                    "`command.resume`: {} questions are open, so the answers need their ids: {}",
                    several.len(),
                    ids.join(", ")
                ));
            }
        }
    }
    for (open, answer) in &answers {
        if let Err(mismatch) = open.check_answer(answer) {
            problems.push(format!("`command.resume`: {mismatch}"));
        }
    }
    if !problems.is_empty() {
        return Err(ApiError::unprocessable(problems.join("; ")));
    }
    Ok(answers.into_iter().map(|(open, answer)| (open.id.clone(), answer.clone())).collect())
}

/// Returns the answers by the ids of their questions, if the value is made of those.
fn by_id<'v>(open: &[&OpenInterrupt], resume: &'v Value) -> Option<&'v serde_json::Map<String, Value>> {
    let object = resume.as_object().filter(|object| !object.is_empty())?;
    let is_id = |key: &String| is_interrupt_id(key) || open.iter().any(|open| open.id == *key);
    object.keys().all(is_id).then_some(object)
}

fn is_interrupt_id(key: &str) -> bool {
    key.len() == 32 && key.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn open(id: &str) -> OpenInterrupt {
        let json = json!({
            "id": id, "node": "ask", "task": 0, "name": "Approve", "question": {},
            "answer_schema": { "type": "boolean" },
        });
        serde_json::from_value(json).unwrap()
    }

    #[track_caller]
    fn check(ids: &[&str], resume: Value, expected: Result<&[&str], &str>) {
        let all: Vec<_> = ids.iter().map(|id| open(id)).collect();
        let found = resolve(&all.iter().collect::<Vec<_>>(), &resume);
        match (found, expected) {
            (Ok(answers), Ok(expected)) => {
                let ids: Vec<_> = answers.iter().map(|(id, _)| id.as_str()).collect();
                assert_eq!(ids, expected);
            }
            (Err(error), Err(expected)) => assert!(error.text().contains(expected), "{}", error.text()),
            (found, expected) => panic!("{found:?} is not {expected:?}"),
        }
    }

    #[test]
    fn answers_find_their_questions() {
        let hex = interrupt_id(&open("a"));
        check(&["a"], json!(true), Ok(&["a"]));
        check(&["a", "b"], json!({ "b": true, "a": false }), Ok(&["a", "b"]));
        check(&["a"], json!({ hex: true }), Ok(&["a"]));
        check(&[], json!(true), Ok(&[]));
        check(&[], json!({}), Ok(&[]));
    }

    #[test]
    fn every_answer_that_does_not_fit_is_refused() {
        check(&["a"], json!("yes"), Err("`command.resume`"));
        check(&["a", "b"], json!(true), Err("2 questions are open"));
        check(&["a", "b"], json!({ "a": 1, "b": 2 }), Err("; "));
        check(&["a"], json!({ "0123456789abcdef0123456789abcdef": true }), Err("no such question is open"));
        // An object with other keys is the answer itself.
        check(&["a"], json!({ "approved": true }), Err("does not fit"));
    }
}
