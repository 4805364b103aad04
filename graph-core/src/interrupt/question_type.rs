use serde_json::Value;

use super::Question;
use super::question::MigratedJson;

/// The constants and functions of a type of question. Code that works on it is compiled once.
pub(crate) struct QuestionType {
    pub(crate) name: fn() -> &'static str,
    pub(crate) version: u32,
    pub(super) migrate: fn(u32, Value) -> MigratedJson,
    pub(super) migrate_answer: fn(u32, Value) -> MigratedJson,
    pub(crate) answer_schema: fn() -> Option<Value>,
    /// Reads a question and writes it again.
    pub(super) reread: fn(Value) -> Option<Value>,
}

/// A question with a [`QuestionType`].
pub(crate) trait QuestionTypeOf {
    const TYPE: &'static QuestionType;
}

impl<Q: Question> QuestionTypeOf for Q {
    const TYPE: &'static QuestionType = &QuestionType {
        name: Q::name,
        version: Q::VERSION,
        migrate: Q::migrate,
        migrate_answer: Q::migrate_answer,
        answer_schema: Q::answer_schema,
        reread: reread::<Q>,
    };
}

/// Returns the question as this program writes it, with the defaults of new fields and without removed ones.
fn reread<Q: Question>(question: Value) -> Option<Value> {
    Q::__from_json(question).ok()?.__to_json().ok()
}
