/// The error of reading or choosing an open interrupt.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InterruptMismatch {
    /// No open question has this name, or none has this key.
    #[error("no open question matches {wanted}: {}", open_names(.open))]
    NotFound {
        /// The name of the question's type, and its key if one was asked for: "`Approve` with key `buyer`".
        wanted: String,
        /// The open questions, in the same form.
        open: Vec<String>,
    },
    /// Several open questions match where one is expected.
    #[error("{count} open questions match {wanted}: choose one with `by_key(..)`, or by its id from `all()`")]
    Ambiguous {
        /// The name of the question's type, and its key if one was asked for: "`Approve` with key `buyer`".
        wanted: String,
        /// The number of matching questions.
        count: usize,
    },
    /// An answer names no question, which is allowed only if exactly one question is open.
    #[error("an answer without an id needs exactly one open question, but {}", open_ids(.open))]
    NotExactlyOne {
        /// The ids of the open questions.
        open: Vec<String>,
    },
    /// The question has another type.
    #[error("question `{id}` is a `{name}`, not a `{expected}`")]
    OtherType {
        /// The question's id.
        id: String,
        /// The name of the question's type.
        name: String,
        /// The name of the requested type.
        expected: &'static str,
    },
    /// The JSON of an answer does not fit the schema of the answer's type.
    #[error("the answer to question `{id}` does not fit the answer type of `{name}`: at {reason}")]
    WrongAnswer {
        /// The question's id.
        id: String,
        /// The name of the question's type.
        name: String,
        /// The path in the answer, and the reason.
        reason: String,
    },
    /// The JSON of the question does not fit the type, for example because another version of the type asked it.
    #[error(
        "question `{id}` cannot be read as `{name}`: {reason}; give new fields `#[serde(default)]`, implement \
         `Question::migrate`, or have the question asked again with `resume(())`"
    )]
    Unreadable {
        /// The question's id.
        id: String,
        /// The name of the question's type.
        name: &'static str,
        /// The reason.
        reason: String,
    },
}

fn open_ids(ids: &[String]) -> String {
    match ids {
        [] => "none is open".to_owned(),
        ids => format!("{} are open (`{}`): send the id with the answer", ids.len(), ids.join("`, `")),
    }
}

fn open_names(names: &[String]) -> String {
    match names {
        [] => "no question is open".to_owned(),
        names => format!("the open questions are {}", names.join(", ")),
    }
}
