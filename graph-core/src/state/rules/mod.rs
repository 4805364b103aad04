//! The rules behind `#[state(validate(..))]`, usable in a rule or an invariant of one's own as well.
//!
//! Each looks into `Option`s: `None` keeps every rule but [`required`].
//!
//! ```
//! use superstep::state::rules;
//!
//! fn check_name(name: &Option<String>) -> Result<(), String> {
//!     rules::required(name)?;
//!     rules::length(name, 1, 5)
//! }
//! assert_eq!(check_name(&Some("größe".to_owned())), Ok(()));
//! assert_eq!(check_name(&Some("größer".to_owned())), Err("length is greater than 5".to_owned()));
//! assert_eq!(check_name(&None), Err("not set".to_owned()));
//! ```

mod feature;
mod inner;
mod length;
mod pattern;
mod range;
mod text;

#[cfg(not(feature = "email"))]
pub use feature::email;
#[cfg(not(feature = "pattern"))]
pub use feature::pattern;
#[cfg(not(feature = "url"))]
pub use feature::url;
pub use inner::{Elements, inner};
pub use length::{Length, length};
pub use pattern::Pattern;
#[cfg(feature = "pattern")]
pub use pattern::pattern;
pub use range::{Number, range};
#[cfg(feature = "email")]
pub use text::email;
#[cfg(feature = "url")]
pub use text::url;
pub use text::{Text, alphanumeric, ascii, contains, prefix, suffix};

/// A broken rule in words; garde's error type stays inside.
fn told(result: Result<(), garde::Error>) -> Result<(), String> {
    result.map_err(|error| error.message().to_owned())
}

/// There is a value.
///
/// # Errors
/// It is `None`.
pub fn required<T>(value: &Option<T>) -> Result<(), String> {
    told(garde::rules::required::apply(value, ()))
}

/// A rule of one's own holds.
///
/// # Errors
/// What it says.
pub fn custom<E: std::fmt::Display>(result: Result<(), E>) -> Result<(), String> {
    result.map_err(|error| error.to_string())
}
