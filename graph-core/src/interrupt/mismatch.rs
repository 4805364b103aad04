/// Why a run has no such question to answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InterruptMismatch {
    /// No open question has this name, or none has this key.
    #[error("no open question is `{wanted}`{}", those(.open))]
    NotFound {
        /// The name of the question's type, and its key if one was asked for.
        wanted: String,
        /// The names of those that are open.
        open: Vec<String>,
    },
    /// Several are open where one is expected.
    #[error("{count} open questions are `{wanted}`: choose one of `all`, by its key or its id")]
    Ambiguous {
        /// The name of the question's type, and its key if one was asked for.
        wanted: String,
        /// How many are open.
        count: usize,
    },
    /// A bare answer does not say which question it is for, and not exactly one is open.
    #[error("an answer without a question's id is for the only one that is open{}", ids(.open))]
    NotExactlyOne {
        /// The ids of those that are open.
        open: Vec<String>,
    },
    /// The question is one of another type.
    #[error("question `{id}` is a `{name}`, not a `{expected}`")]
    OtherType {
        /// The question's id.
        id: String,
        /// Its name.
        name: String,
        /// The name of the type that it was read as.
        expected: &'static str,
    },
    /// The question was asked as another version of its type.
    #[error("question `{id}` cannot be read as `{name}`: {reason}")]
    Unreadable {
        /// The question's id.
        id: String,
        /// The name of the question's type.
        name: &'static str,
        /// What is wrong with it.
        reason: String,
    },
}

fn ids(ids: &[String]) -> String {
    match ids {
        [] => ", and none is".to_owned(),
        ids => format!(", and {} are: `{}`", ids.len(), ids.join("`, `")),
    }
}

fn those(names: &[String]) -> String {
    match names {
        [] => ": none is open".to_owned(),
        names => format!(": open {} `{}`", if names.len() == 1 { "is" } else { "are" }, names.join("`, `")),
    }
}
