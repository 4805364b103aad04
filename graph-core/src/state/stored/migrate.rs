use std::fmt::Display;

use super::Stored;
use super::error::{Why, guarded};
use crate::contain::display_text;
use crate::payload::Unreadable;

/// The reason why stored data cannot be used by the program's version.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MigrationError {
    /// A newer version of the program has stored the state or the question.
    #[error(
        "`{state}` is stored in version {found}, but this program supports versions up to {known}: use a newer version of it"
    )]
    Newer {
        /// The name of the state or the question.
        state: &'static str,
        /// The stored version.
        found: u32,
        /// The program's version.
        known: u32,
    },

    /// The migration function of the state or the question failed.
    #[error("the migration of `{state}` from version {from} failed: {reason}")]
    Failed {
        /// The name of the state or the question.
        state: &'static str,
        /// The stored version.
        from: u32,
        /// The message of the function's error.
        reason: String,
    },

    /// A stored value could not be changed.
    #[error("the stored field `{field}` cannot be changed: {reason}")]
    Change {
        /// The field's stored name.
        field: String,
        /// The reason.
        reason: String,
    },

    /// A stored packet, or the stored data of a node, does not fit its type.
    #[error(
        "the packet of {of} cannot be read: {reason}; let its type read the old JSON, for example with `#[serde(default)]` \
         on a new field, or discard the pending tasks with `abandon_pending()`"
    )]
    Packet {
        /// The node that the packet is for, or the exit of the route that sent it.
        of: String,
        /// The reason.
        reason: String,
    },

    /// A finished task has taken a way out of its node that does not exist any more.
    #[error(
        "the stored route of node `{node}` cannot be taken: {reason}; restore the way, give a renamed variant its old name \
         with `#[route(label = \"..\")]`, or discard the pending tasks with `abandon_pending()`"
    )]
    Route {
        /// The node.
        node: String,
        /// The reason.
        reason: String,
    },
}

/// The return type of a migration function: `Result<(), E>`.
#[diagnostic::on_unimplemented(
    message = "a migration cannot return `{Self}`",
    label = "returns `{Self}`",
    note = "a migration is a `fn(from: u32, stored: &mut Stored) -> Result<(), E>` where `E: Display`"
)]
pub trait MigrationOutcome {
    /// Converts the error into its message.
    fn into_migrated(self) -> Result<(), String>;
}

#[diagnostic::do_not_recommend]
impl<E: Display> MigrationOutcome for Result<(), E> {
    fn into_migrated(self) -> Result<(), String> {
        self.map_err(|error| display_text(&error))
    }
}

/// Migrates a stored state to the version `known`. The first name is the state's, the others are its former names.
///
/// # Errors
/// The stored version is newer, or the migration function fails.
pub fn migrate(
    names: &[&'static str],
    known: u32,
    versions: &[(String, u32)],
    stored: &mut Stored,
    run: impl FnOnce(u32, &mut Stored) -> Result<(), String>,
) -> Result<(), MigrationError> {
    match outdated(names, known, versions)? {
        Some(found) => {
            guarded(|| run(found, stored).map_err(quoting)).map_err(|why| failed(names, found, &why))
        }
        None => Ok(()),
    }
}

/// Returns the stored version of a state if it is older than `known`.
fn outdated(
    names: &[&'static str],
    known: u32,
    versions: &[(String, u32)],
) -> Result<Option<u32>, MigrationError> {
    let found = versions.iter().find(|(name, _)| names.contains(&name.as_str()));
    let found = found.map_or(0, |(_, version)| *version);
    if found > known {
        return Err(MigrationError::Newer { state: first(names), found, known });
    }
    Ok((found < known).then_some(found))
}

fn failed(names: &[&'static str], from: u32, why: &Why) -> MigrationError {
    MigrationError::Failed { state: first(names), from, reason: why.to_string() }
}

fn quoting(message: String) -> Why {
    Unreadable::quoting(message).into()
}

fn first(names: &[&'static str]) -> &'static str {
    names.first().copied().unwrap_or_default()
}
