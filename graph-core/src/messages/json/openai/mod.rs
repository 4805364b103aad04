//! The format of chat endpoints: `{"role": "user", "content": ..}`.

mod content;
mod read;
mod write;

pub(super) use read::{calls, read};

/// The key for the role `developer` of a system message, as in LangChain.
const ROLE: &str = "__openai_role__";

/// The key that marks a call of a custom tool, which takes a string.
const TYPE: &str = "__openai_type__";
