/// Why a run has no such question to answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotAsked {
    /// No open question has this name, or none has this key.
    #[error("no open question is `{wanted}`{}", those(.open))]
    Nowhere {
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
    /// The question is one of another type.
    #[error("question `{id}` is a `{name}`, not a `{expected}`")]
    AnotherName {
        /// The question's id.
        id: String,
        /// Its name.
        name: String,
        /// The name of the type that it was read as.
        expected: &'static str,
    },
    /// The question was asked as another version of its type.
    #[error("question `{id}` cannot be read as `{name}`: {reason}")]
    Unfit {
        /// The question's id.
        id: String,
        /// The name of the question's type.
        name: &'static str,
        /// What is wrong with it.
        reason: String,
    },
}

fn those(names: &[String]) -> String {
    match names {
        [] => ": none is open".to_owned(),
        names => format!(": open {} `{}`", if names.len() == 1 { "is" } else { "are" }, names.join("`, `")),
    }
}
