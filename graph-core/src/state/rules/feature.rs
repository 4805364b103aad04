//! Replacements for the rules of disabled features. No type has their traits, so rustc names the feature to enable.

/// The bound of the rule `email` while its feature is disabled.
#[cfg(not(feature = "email"))]
#[diagnostic::on_unimplemented(
    message = "the rule `email` needs the feature `email` of `superstep`",
    label = "the feature of this rule is disabled"
)]
pub trait WithEmail {}

/// Needs the feature `email`.
///
/// # Errors
/// Never. It cannot be called.
#[cfg(not(feature = "email"))]
pub fn email<T: WithEmail + ?Sized>(_: &T) -> Result<(), String> {
    Ok(())
}

/// The bound of the rule `url` while its feature is disabled.
#[cfg(not(feature = "url"))]
#[diagnostic::on_unimplemented(
    message = "the rule `url` needs the feature `url` of `superstep`",
    label = "the feature of this rule is disabled"
)]
pub trait WithUrl {}

/// Needs the feature `url`.
///
/// # Errors
/// Never. It cannot be called.
#[cfg(not(feature = "url"))]
pub fn url<T: WithUrl + ?Sized>(_: &T) -> Result<(), String> {
    Ok(())
}

/// The bound of the rule `pattern` while its feature is disabled.
#[cfg(not(feature = "pattern"))]
#[diagnostic::on_unimplemented(
    message = "the rule `pattern` needs the feature `pattern` of `superstep`",
    label = "the feature of this rule is disabled"
)]
pub trait WithPattern {}

/// Needs the feature `pattern`.
///
/// # Errors
/// Never. It cannot be called.
#[cfg(not(feature = "pattern"))]
pub fn pattern<T: WithPattern + ?Sized>(_: &T, _: &super::Pattern) -> Result<(), String> {
    Ok(())
}
