//! Questions and answers that another version of the program has stored.

use serde_json::Value;

use crate::state::MigrationError;

use super::QuestionType;
use super::question::MigratedJson;

/// Converts the JSON of a question into that of this program's version.
pub(super) fn migrated_question(
    of: &QuestionType,
    from: u32,
    question: &Value,
) -> Result<Value, MigrationError> {
    migrated(of, from, question, of.migrate)
}

/// Returns an answer in this program's version, or `None` if it answers another question than the one that is asked now.
pub(crate) fn valid_answer(
    of: &QuestionType,
    question: (&Value, u32),
    answer: (&Value, u32),
    asked: &Value,
) -> Result<Option<Value>, MigrationError> {
    if !is_same_question(of, question, asked)? {
        return Ok(None);
    }
    let (answer, from) = answer;
    migrated(of, from, answer, of.migrate_answer).map(Some)
}

/// Returns `true` if a question of any version equals the one that is asked now, after its migration.
pub(crate) fn is_same_question(
    of: &QuestionType,
    (question, from): (&Value, u32),
    asked: &Value,
) -> Result<bool, MigrationError> {
    if from == of.version && question == asked {
        return Ok(true);
    }
    let question = migrated_question(of, from, question)?;
    Ok(question == *asked || (is_part_of(&question, asked) && (of.reread)(question).as_ref() == Some(asked)))
}

fn migrated(
    of: &QuestionType,
    from: u32,
    json: &Value,
    migrate: fn(u32, Value) -> MigratedJson,
) -> Result<Value, MigrationError> {
    if from > of.version {
        return Err(MigrationError::Newer { state: (of.name)(), found: from, known: of.version });
    }
    if from == of.version {
        return Ok(json.clone());
    }
    migrate(from, json.clone()).map_err(|error| MigrationError::Failed {
        state: (of.name)(),
        from,
        reason: error.to_string(),
    })
}

/// Returns `true` if everything that `shown` has in common with `asked` is equal. Either may have additional keys.
fn is_part_of(shown: &Value, asked: &Value) -> bool {
    match (shown, asked) {
        (Value::Object(shown), Value::Object(asked)) => {
            shown.iter().all(|(key, value)| asked.get(key).is_none_or(|asked| is_part_of(value, asked)))
        }
        (Value::Array(shown), Value::Array(asked)) => {
            shown.len() == asked.len()
                && shown.iter().zip(asked).all(|(shown, asked)| is_part_of(shown, asked))
        }
        (shown, asked) => shown == asked,
    }
}
