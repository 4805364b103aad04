//! The form of chat endpoints: `{"role": "user", "content": ..}`.

mod content;
mod read;
mod write;

pub(super) use read::{calls, read};

/// Where the role `developer`, which is a system's, is kept; LangChain keeps it there as well.
const ROLE: &str = "__openai_role__";

/// Where it is kept that a call is one of a tool that takes a text.
const TYPE: &str = "__openai_type__";
