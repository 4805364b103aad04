//! The rules of `#[state(validate(..))]`. Custom rules and invariants can call them as well.
//!
//! Each rule looks into `Option`s. `None` passes every rule but [`required`].
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
mod result;
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
pub use result::RuleResult;
#[cfg(feature = "email")]
pub use text::email;
#[cfg(feature = "url")]
pub use text::url;
pub use text::{Text, alphanumeric, ascii, contains, prefix, suffix};

/// Converts garde's error into its message, so that garde's type is not public.
fn message_of(result: Result<(), garde::Error>) -> Result<(), String> {
    result.map_err(|error| error.message().to_owned())
}

/// Checks that the value is `Some`.
///
/// # Errors
/// The value is `None`.
pub fn required<T>(value: &Option<T>) -> Result<(), String> {
    message_of(garde::rules::required::apply(value, ()))
}

/// Converts the result of a custom rule.
///
/// # Errors
/// The message of the custom rule's error.
pub fn custom(result: impl RuleResult) -> Result<(), String> {
    result.into_result()
}
