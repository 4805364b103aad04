//! Conversions for the arguments of inputs and setters.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::reducers::{AnyValue, Replace};

use super::{Change, IntoChange};

/// A value that converts into a `T` as a required input: a `T`, a `&str` for a `String`, a `T` for an `Option<T>`.
///
/// The same conversions work in the setters of fields without a reducer, and of `any_value` fields.
///
/// ```
/// use superstep::state::IntoValue;
///
/// fn input(question: impl IntoValue<String>, folder: impl IntoValue<Option<std::path::PathBuf>>) -> String {
///     format!("{} {:?}", question.into_value(), folder.into_value())
/// }
/// assert_eq!(input("why?", None), "why? None");
/// assert_eq!(input("why?".to_owned(), "docs"), r#"why? Some("docs")"#);
/// ```
#[diagnostic::on_unimplemented(
    message = "an input of type `{T}` cannot take `{Self}`",
    label = "expected a value for `{T}`"
)]
pub trait IntoValue<T> {
    /// Converts it into the value.
    fn into_value(self) -> T;
}

#[diagnostic::do_not_recommend]
impl<T> IntoValue<T> for T {
    fn into_value(self) -> T {
        self
    }
}

#[diagnostic::do_not_recommend]
impl<T> IntoValue<Option<T>> for T {
    fn into_value(self) -> Option<T> {
        Some(self)
    }
}

// A blanket `IntoChange<R, T> for V: IntoValue<T>` would overlap with the impl for `Overwrite<T>`, because another crate
// may implement `IntoValue<ItsOwnType>` for that. Each conversion is therefore implemented for each such reducer.
macro_rules! whole_values {
    ($($reducer:ty),*) => {$(
        #[diagnostic::do_not_recommend]
        impl<T: Clone + Send + Sync + 'static> IntoChange<$reducer, T> for T {
            fn into_change(self) -> Change<$reducer, T> {
                Change::Update(self)
            }
        }

        #[diagnostic::do_not_recommend]
        impl<T: Clone + Send + Sync + 'static> IntoChange<$reducer, Option<T>> for T {
            fn into_change(self) -> Change<$reducer, Option<T>> {
                Change::Update(Some(self))
            }
        }
    )*};
}

whole_values!(Replace, AnyValue);

macro_rules! borrowed {
    ($from:ty => $to:ty: $($reducer:ty),*) => {
        #[diagnostic::do_not_recommend]
        impl IntoValue<$to> for $from {
            fn into_value(self) -> $to {
                self.into()
            }
        }

        #[diagnostic::do_not_recommend]
        impl IntoValue<Option<$to>> for $from {
            fn into_value(self) -> Option<$to> {
                Some(self.into())
            }
        }

        $(
            #[diagnostic::do_not_recommend]
            impl IntoChange<$reducer, $to> for $from {
                fn into_change(self) -> Change<$reducer, $to> {
                    Change::Update(self.into())
                }
            }

            #[diagnostic::do_not_recommend]
            impl IntoChange<$reducer, Option<$to>> for $from {
                fn into_change(self) -> Change<$reducer, Option<$to>> {
                    Change::Update(Some(self.into()))
                }
            }
        )*
    };
    ($($from:ty => $to:ty),* $(,)?) => {
        $(borrowed!($from => $to: Replace, AnyValue);)*
    };
}

borrowed! {
    &str => String,
    &String => String,
    &str => Box<str>,
    &str => Arc<str>,
    &'static str => Cow<'static, str>,
    String => Cow<'static, str>,
    &str => PathBuf,
    &Path => PathBuf,
    &PathBuf => PathBuf,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<T: PartialEq + std::fmt::Debug + Clone + Send + Sync + 'static, V>(given: V, expected: &T)
    where
        V: IntoValue<T> + IntoChange<Replace, T> + Clone,
    {
        assert_eq!(&given.clone().into_value(), expected);
        assert!(matches!(given.into_change(), Change::Update(value) if &value == expected));
    }

    #[test]
    fn value_converts_into_itself() {
        check(3, &3_u8);
        check(0.5, &0.5_f32);
        check(None, &None::<String>);
        check(Some("x".into()), &Some("x".to_owned()));
    }

    #[test]
    fn value_converts_into_an_option() {
        check(3, &Some(3_u64));
        check("x", &Some("x".to_owned()));
        check("a/b", &Some(PathBuf::from("a/b")));
    }

    #[test]
    fn borrowed_strings_and_paths_convert_into_owned_ones() {
        check("é", &"é".to_owned());
        check(&"é".to_owned(), &"é".to_owned());
        check("x", &Box::<str>::from("x"));
        check("x", &Arc::<str>::from("x"));
        check("x", &Cow::Borrowed("x"));
        check(Path::new("a"), &PathBuf::from("a"));
    }
}
