use std::fmt::Display;

use super::Stored;
use super::error::guarded;
use crate::payload::Unreadable;

/// Why a stored state cannot be brought to the version of the program's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MigrationError {
    /// A newer version of the program has stored the state.
    #[error("`{state}` is stored in version {found}, this program knows it up to version {known}")]
    Newer {
        /// The state's name.
        state: &'static str,
        /// The version that is stored.
        found: u32,
        /// The program's version.
        known: u32,
    },

    /// The state's migration function failed.
    #[error("the migration of `{state}` from version {from} failed: {reason}")]
    Failed {
        /// The state's name.
        state: &'static str,
        /// The version that is stored.
        from: u32,
        /// What the function said.
        reason: String,
    },

    /// A stored value could not be changed.
    #[error("the stored field `{field}` cannot be changed: {reason}")]
    Change {
        /// The field's stored name.
        field: String,
        /// Why not.
        reason: String,
    },
}

/// What a migration function returns: a `Result` of nothing.
#[diagnostic::on_unimplemented(
    message = "a migration cannot return `{Self}`",
    label = "returns `{Self}`",
    note = "a migration is a `fn(from: u32, stored: &mut Stored) -> Result<(), E>` whose error can be displayed"
)]
pub trait MigrationOutcome {
    /// The outcome, in words if it is an error.
    fn into_migrated(self) -> Result<(), String>;
}

#[diagnostic::do_not_recommend]
impl<E: Display> MigrationOutcome for Result<(), E> {
    fn into_migrated(self) -> Result<(), String> {
        self.map_err(|error| error.to_string())
    }
}

/// Brings what is stored of a state to the version `known`. The first name is the state's, the others it had before.
///
/// # Errors
/// What is stored is newer, or the function fails.
pub fn migrate(
    names: &[&'static str],
    known: u32,
    versions: &[(String, u32)],
    stored: &mut Stored,
    run: impl FnOnce(u32, &mut Stored) -> Result<(), String>,
) -> Result<(), MigrationError> {
    let state = names.first().copied().unwrap_or_default();
    let found = versions.iter().find(|(name, _)| names.contains(&name.as_str()));
    let found = found.map_or(0, |(_, version)| *version);
    if found > known {
        return Err(MigrationError::Newer { state, found, known });
    }
    if found == known {
        return Ok(());
    }
    guarded(|| run(found, stored).map_err(Unreadable::quoting)).map_err(|why| MigrationError::Failed {
        state,
        from: found,
        reason: why.to_string(),
    })
}
