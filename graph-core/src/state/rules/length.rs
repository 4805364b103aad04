use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::sync::Arc;

use garde::rules::length::{HasSimpleLength, simple};

/// Checks that the length is in `min..=max`: the characters of a string, or the items of a collection.
///
/// # Errors
/// The length is lower than `min` or greater than `max`.
pub fn length<T: Length + ?Sized>(value: &T, min: usize, max: usize) -> Result<(), String> {
    value.count().map_or(Ok(()), |count| super::message_of(simple::apply(&Count(count), (min, max))))
}

/// A value that [`length`] can measure.
#[diagnostic::on_unimplemented(
    message = "the rule `length` cannot measure `{Self}`",
    label = "neither a string nor a collection",
    note = "`length` counts the characters of strings and the items of collections; use `custom(path)` for other types"
)]
pub trait Length {
    /// Returns the number of characters or items; `None` for an `Option` that is `None`.
    fn count(&self) -> Option<usize>;
}

struct Count(usize);

impl HasSimpleLength for Count {
    fn length(&self) -> usize {
        self.0
    }
}

#[diagnostic::do_not_recommend]
impl<T: Length> Length for Option<T> {
    fn count(&self) -> Option<usize> {
        self.as_ref().and_then(T::count)
    }
}

#[diagnostic::do_not_recommend]
impl<T: Length + ?Sized> Length for &T {
    fn count(&self) -> Option<usize> {
        (**self).count()
    }
}

#[diagnostic::do_not_recommend]
impl<T: Length + ?Sized> Length for Box<T> {
    fn count(&self) -> Option<usize> {
        (**self).count()
    }
}

#[diagnostic::do_not_recommend]
impl<T: Length + ?Sized> Length for Arc<T> {
    fn count(&self) -> Option<usize> {
        (**self).count()
    }
}

macro_rules! by_chars {
    ($($text:ty),*) => {$(
        #[diagnostic::do_not_recommend]
        impl Length for $text {
            fn count(&self) -> Option<usize> {
                Some(self.chars().count())
            }
        }
    )*};
}

by_chars!(str, String, Cow<'_, str>);

macro_rules! by_items {
    ($([$($generics:tt)*] $collection:ty),* $(,)?) => {$(
        #[diagnostic::do_not_recommend]
        impl<$($generics)*> Length for $collection {
            fn count(&self) -> Option<usize> {
                Some(self.len())
            }
        }
    )*};
}

by_items! {
    [T] [T],
    [T, const N: usize] [T; N],
    [T] Vec<T>,
    [T] VecDeque<T>,
    [T] LinkedList<T>,
    [T] BinaryHeap<T>,
    [T] BTreeSet<T>,
    [T, H] HashSet<T, H>,
    [K, V] BTreeMap<K, V>,
    [K, V, H] HashMap<K, V, H>,
    [] serde_json::Map<String, serde_json::Value>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check<T: Length + ?Sized>(value: &T, min: usize, max: usize, expected: Result<(), &str>) {
        assert_eq!(length(value, min, max), expected.map_err(str::to_owned));
    }

    #[test]
    fn length_of_a_string_is_in_characters() {
        check("größe", 5, 5, Ok(()));
        check(&"🦀🦀".to_owned(), 1, 2, Ok(()));
        check("", 1, usize::MAX, Err("length is lower than 1"));
        check("abc", 0, 2, Err("length is greater than 2"));
        check(&Arc::<str>::from("é"), 1, 1, Ok(()));
    }

    #[test]
    fn length_of_a_collection_is_in_items() {
        check(&vec!["long text"], 1, 1, Ok(()));
        check(&VecDeque::from([1, 2]), 3, 3, Err("length is lower than 3"));
        check(&[0; 3], 0, 3, Ok(()));
        check(&HashMap::from([(1, 2)]), 1, 1, Ok(()));
        check(&BTreeSet::from(["é"]), 2, 9, Err("length is lower than 2"));
    }

    #[test]
    fn none_passes_the_rule() {
        check(&None::<String>, 1, 2, Ok(()));
        check(&Some(""), 1, 2, Err("length is lower than 1"));
        check(&Some(Vec::<u8>::new()), 1, 2, Err("length is lower than 1"));
    }
}
