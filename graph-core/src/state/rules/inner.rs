use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, LinkedList, VecDeque};
use std::fmt::Debug;
use std::sync::Arc;

/// Checks a rule on every element.
///
/// # Errors
/// The error of the first element that breaks the rule, with its index, or with its key in a map.
///
/// ```
/// use superstep::state::rules::{inner, length};
///
/// let tags = ["a", "", "b"];
/// assert_eq!(inner(&tags, |tag| length(tag, 1, 9)), Err("at [1]: length is lower than 1".to_owned()));
/// ```
pub fn inner<T: Elements + ?Sized>(
    value: &T,
    mut rule: impl FnMut(&T::Element) -> Result<(), String>,
) -> Result<(), String> {
    value.each(&mut rule)
}

/// A collection that [`inner`] can check.
#[diagnostic::on_unimplemented(
    message = "the rule `inner` cannot look into `{Self}`",
    label = "not a collection",
    note = "`inner` checks the elements of lists, arrays and sets, the values of maps, and `Option`s of these"
)]
pub trait Elements {
    /// The type of an element.
    type Element;

    /// Applies `rule` to the elements until one breaks it.
    ///
    /// # Errors
    /// The error of the rule, with the index or key of the element.
    fn each(&self, rule: &mut dyn FnMut(&Self::Element) -> Result<(), String>) -> Result<(), String>;
}

#[diagnostic::do_not_recommend]
impl<T: Elements> Elements for Option<T> {
    type Element = T::Element;

    fn each(&self, rule: &mut dyn FnMut(&T::Element) -> Result<(), String>) -> Result<(), String> {
        self.as_ref().map_or(Ok(()), |value| value.each(rule))
    }
}

macro_rules! through_pointers {
    ($($pointer:ty),*) => {$(
        #[diagnostic::do_not_recommend]
        impl<T: Elements + ?Sized> Elements for $pointer {
            type Element = T::Element;

            fn each(&self, rule: &mut dyn FnMut(&T::Element) -> Result<(), String>) -> Result<(), String> {
                (**self).each(rule)
            }
        }
    )*};
}

through_pointers!(&T, Box<T>, Arc<T>);

macro_rules! by_index {
    ($([$($generics:tt)*] $collection:ty),* $(,)?) => {$(
        #[diagnostic::do_not_recommend]
        impl<$($generics)*> Elements for $collection {
            type Element = T;

            fn each(&self, rule: &mut dyn FnMut(&T) -> Result<(), String>) -> Result<(), String> {
                self.iter()
                    .enumerate()
                    .try_for_each(|(index, item)| rule(item).map_err(|text| format!("at [{index}]: {text}")))
            }
        }
    )*};
}

by_index! {
    [T] [T],
    [T, const N: usize] [T; N],
    [T] Vec<T>,
    [T] VecDeque<T>,
    [T] LinkedList<T>,
    [T] BTreeSet<T>,
    [T, H] HashSet<T, H>,
}

macro_rules! by_key {
    ($([$($generics:tt)*] $map:ty),* $(,)?) => {$(
        #[diagnostic::do_not_recommend]
        impl<$($generics)*> Elements for $map {
            type Element = V;

            fn each(&self, rule: &mut dyn FnMut(&V) -> Result<(), String>) -> Result<(), String> {
                self.iter()
                    .try_for_each(|(key, value)| rule(value).map_err(|text| format!("at [{key:?}]: {text}")))
            }
        }
    )*};
}

by_key! {
    [K: Debug, V] BTreeMap<K, V>,
    [K: Debug, V, H] HashMap<K, V, H>,
}

#[cfg(test)]
mod tests {
    use super::super::{length, range};
    use super::*;

    #[track_caller]
    fn check<T: Elements<Element = String>>(value: &T, expected: Result<(), &str>) {
        assert_eq!(inner(value, |text| length(text, 1, 3)), expected.map_err(str::to_owned));
    }

    #[test]
    fn first_element_that_breaks_the_rule_is_named() {
        let texts = ["größe", "a", ""].map(str::to_owned);
        check(&texts, Err("at [0]: length is greater than 3"));
        check(&texts[1..].to_vec(), Err("at [1]: length is lower than 1"));
        check(&VecDeque::from(["a".to_owned()]), Ok(()));
        check(&BTreeMap::from([("k", String::new())]), Err("at [\"k\"]: length is lower than 1"));
    }

    #[test]
    fn none_and_empty_pass_the_rule() {
        check(&None::<Vec<String>>, Ok(()));
        check(&Vec::new(), Ok(()));
        check(&Some(vec![String::new()]), Err("at [0]: length is lower than 1"));
    }

    #[test]
    fn rules_nest() {
        let table = vec![vec![0.5, f64::NAN]];
        let result = inner(&table, |row| inner(row, |cell| range(cell, Some(0.0), None)));
        assert_eq!(result, Err("at [0]: at [1]: not a number".to_owned()));
    }
}
