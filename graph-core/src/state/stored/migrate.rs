use std::fmt::Display;

use crate::contain::display_text;
use crate::payload::Unreadable;

use super::error::{Why, guarded};
use super::{MigrationError, Stored};

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
