use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// The author of a message.
///
/// ```
/// use superstep::messages::Role;
///
/// // Accepts the names of LangChain and of chat endpoints.
/// assert_eq!("user".parse(), Ok(Role::Human));
/// assert_eq!("ai".parse(), Ok(Role::Ai));
/// assert_eq!(Role::Human.to_string(), "human");
/// assert!("narrator".parse::<Role>().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Role {
    /// A person, the user.
    Human,
    /// A model, the assistant.
    Ai,
    /// A tool that the model has called.
    Tool,
    /// The application.
    System,
}

impl Role {
    /// Returns the name in LangChain: `human`, `ai`, `tool` or `system`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Human => "human",
            Self::Ai => "ai",
            Self::Tool => "tool",
            Self::System => "system",
        }
    }

    /// Returns the name at chat endpoints: `user`, `assistant`, `tool` or `system`.
    pub fn chat_name(self) -> &'static str {
        match self {
            Self::Human => "user",
            Self::Ai => "assistant",
            Self::Tool => "tool",
            Self::System => "system",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The error for an unknown role.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("unknown role `{0}`: use `human` (`user`), `ai` (`assistant`), `tool` or `system` (`developer`)")]
pub struct UnknownRole(pub String);

impl FromStr for Role {
    type Err = UnknownRole;

    fn from_str(name: &str) -> Result<Self, UnknownRole> {
        Ok(match name {
            "human" | "user" => Self::Human,
            "ai" | "assistant" => Self::Ai,
            "tool" => Self::Tool,
            "system" | "developer" => Self::System,
            other => return Err(UnknownRole(other.to_owned())),
        })
    }
}
