//! Stands for the rules whose feature is off, so that rustc says which one to turn on: no type has these traits.

/// What the rule `email` asks for while its feature is off.
#[cfg(not(feature = "email"))]
#[diagnostic::on_unimplemented(
    message = "the rule `email` needs the feature `email` of `superstep`",
    label = "this rule's feature is off"
)]
pub trait WithEmail {}

/// Needs the feature `email`.
///
/// # Errors
/// Never: it cannot be called.
#[cfg(not(feature = "email"))]
pub fn email<T: WithEmail + ?Sized>(_: &T) -> Result<(), String> {
    Ok(())
}

/// What the rule `url` asks for while its feature is off.
#[cfg(not(feature = "url"))]
#[diagnostic::on_unimplemented(
    message = "the rule `url` needs the feature `url` of `superstep`",
    label = "this rule's feature is off"
)]
pub trait WithUrl {}

/// Needs the feature `url`.
///
/// # Errors
/// Never: it cannot be called.
#[cfg(not(feature = "url"))]
pub fn url<T: WithUrl + ?Sized>(_: &T) -> Result<(), String> {
    Ok(())
}

/// What the rule `pattern` asks for while its feature is off.
#[cfg(not(feature = "pattern"))]
#[diagnostic::on_unimplemented(
    message = "the rule `pattern` needs the feature `pattern` of `superstep`",
    label = "this rule's feature is off"
)]
pub trait WithPattern {}

/// Needs the feature `pattern`.
///
/// # Errors
/// Never: it cannot be called.
#[cfg(not(feature = "pattern"))]
pub fn pattern<T: WithPattern + ?Sized>(_: &T, _: &super::Pattern) -> Result<(), String> {
    Ok(())
}
