//! The stored form of states and writes: each field by itself, as its value or as its deltas.
//!
//! A value is read back as the same value, or refused when it is written. Unlike dumps, the stored form includes the
//! values of excluded fields. It never includes untracked fields.

mod canonical;
mod change;
pub(crate) mod encode;
pub(crate) mod error;
mod migrate;
mod migration_error;
mod overflow;
mod place;
mod restore;
#[expect(clippy::module_inception, reason = "a public type lives in the file of its name")]
mod stored;
mod wide_number;

pub(crate) use canonical::canonical;
pub use change::{
    Decoded, Form, decode_change, decode_change_with, decode_overwrite_with, encode_change,
    encode_change_with, encode_overwrite_with,
};
pub use encode::{encode_value, encode_value_with};
pub use error::{DecodeError, EncodeError, RestoreError};
pub use migrate::{MigrationOutcome, migrate};
pub use migration_error::MigrationError;
pub(super) use overflow::overflow_of;
pub(crate) use overflow::{decode_write, have_large_number};
pub use place::FieldPlace;
pub use restore::Restore;
pub use stored::Stored;
