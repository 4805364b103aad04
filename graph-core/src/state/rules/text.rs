use std::borrow::Cow;
use std::sync::Arc;

use garde::rules;

/// A value that the string rules can read.
#[diagnostic::on_unimplemented(
    message = "a string rule cannot read `{Self}`",
    label = "not a string",
    note = "`ascii`, `alphanumeric`, `contains`, `prefix`, `suffix`, `email`, `url` and `pattern` read `String`, `&str`, `Box<str>`, `Arc<str>`, `Cow<str>` and `Option`s of these; use `custom(path)` for other types"
)]
pub trait Text {
    /// Returns the string; `None` for an `Option` that is `None`.
    fn text(&self) -> Option<&str>;
}

#[diagnostic::do_not_recommend]
impl Text for str {
    fn text(&self) -> Option<&str> {
        Some(self)
    }
}

#[diagnostic::do_not_recommend]
impl Text for String {
    fn text(&self) -> Option<&str> {
        Some(self)
    }
}

#[diagnostic::do_not_recommend]
impl Text for Cow<'_, str> {
    fn text(&self) -> Option<&str> {
        Some(self)
    }
}

#[diagnostic::do_not_recommend]
impl<T: Text + ?Sized> Text for &T {
    fn text(&self) -> Option<&str> {
        (**self).text()
    }
}

#[diagnostic::do_not_recommend]
impl<T: Text + ?Sized> Text for Box<T> {
    fn text(&self) -> Option<&str> {
        (**self).text()
    }
}

#[diagnostic::do_not_recommend]
impl<T: Text + ?Sized> Text for Arc<T> {
    fn text(&self) -> Option<&str> {
        (**self).text()
    }
}

#[diagnostic::do_not_recommend]
impl<T: Text> Text for Option<T> {
    fn text(&self) -> Option<&str> {
        self.as_ref().and_then(T::text)
    }
}

/// Applies one of garde's rules to the string, if there is one.
pub(super) fn each<T: Text + ?Sized>(
    value: &T,
    rule: impl FnOnce(&&str) -> Result<(), garde::Error>,
) -> Result<(), String> {
    value.text().map_or(Ok(()), |text| super::message_of(rule(&text)))
}

/// Checks that every character is ASCII.
///
/// # Errors
/// The string contains another character.
pub fn ascii<T: Text + ?Sized>(value: &T) -> Result<(), String> {
    each(value, |text| rules::ascii::apply(text, ()))
}

/// Checks that every character is a letter or a digit of some script.
///
/// # Errors
/// The string contains another character.
pub fn alphanumeric<T: Text + ?Sized>(value: &T) -> Result<(), String> {
    each(value, |text| rules::alphanumeric::apply(text, ()))
}

/// Checks that the string contains `part`.
///
/// # Errors
/// The string does not contain it.
pub fn contains<T: Text + ?Sized>(value: &T, part: &str) -> Result<(), String> {
    each(value, |text| rules::contains::apply(text, (part,)))
}

/// Checks that the string starts with `start`.
///
/// # Errors
/// The string starts differently.
pub fn prefix<T: Text + ?Sized>(value: &T, start: &str) -> Result<(), String> {
    each(value, |text| rules::prefix::apply(text, (start,)))
}

/// Checks that the string ends with `end`.
///
/// # Errors
/// The string ends differently.
pub fn suffix<T: Text + ?Sized>(value: &T, end: &str) -> Result<(), String> {
    each(value, |text| rules::suffix::apply(text, (end,)))
}

/// Checks that the string is an e-mail address.
///
/// # Errors
/// The reason why it is not an e-mail address.
#[cfg(feature = "email")]
pub fn email<T: Text + ?Sized>(value: &T) -> Result<(), String> {
    each(value, |text| rules::email::apply(text, ()))
}

/// Checks that the string is an absolute URL.
///
/// # Errors
/// The reason why it is not an absolute URL.
#[cfg(feature = "url")]
pub fn url<T: Text + ?Sized>(value: &T) -> Result<(), String> {
    each(value, |text| rules::url::apply(text, ()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(result: Result<(), String>, expected: Result<(), &str>) {
        assert_eq!(result, expected.map_err(str::to_owned));
    }

    #[test]
    fn every_character_is_checked() {
        check(ascii("abc-1"), Ok(()));
        check(ascii("größe"), Err("not ascii"));
        check(alphanumeric("größe1"), Ok(()));
        check(alphanumeric("a b"), Err("not alphanumeric"));
    }

    #[test]
    fn parts_of_strings_are_checked() {
        check(contains("größe", "öß"), Ok(()));
        check(contains("abc", "x"), Err("does not contain \"x\""));
        check(prefix(&"abc".to_owned(), "a"), Ok(()));
        check(prefix("abc", "b"), Err("value does not begin with \"b\""));
        check(suffix(&Box::<str>::from("abc"), "bc"), Ok(()));
        check(suffix("abc", "b"), Err("does not end with \"b\""));
    }

    #[test]
    fn none_passes_the_rules() {
        check(contains(&None::<String>, "x"), Ok(()));
        check(ascii(&Some("é")), Err("not ascii"));
    }

    #[cfg(feature = "email")]
    #[test]
    fn email_addresses_are_checked() {
        check(email("a@b.example"), Ok(()));
        check(email(&Some("a")), Err("not a valid email: value is missing `@`"));
    }

    #[cfg(feature = "url")]
    #[test]
    fn urls_are_checked() {
        check(url("https://example.com/a?b"), Ok(()));
        check(url(&Some("/a")), Err("not a valid url: relative URL without a base"));
    }
}
