use std::collections::VecDeque;

use crate::state::{Change, IntoChange};

use super::{Optional, ReduceError, Reducer, Stamp, StoredAs, Undo};

/// Appends items to a list, or characters to a `String`.
///
/// The setter takes anything that iterates over items, or for a `String` anything that converts into a `String`.
///
/// ```
/// use superstep::reducers::{Append, Reducer};
///
/// let mut notes = vec!["a"];
/// Append::fold(&mut notes, vec!["b", "c"])?;
/// assert_eq!(notes, ["a", "b", "c"]);
/// # Ok::<(), superstep::reducers::ReduceError>(())
/// ```
#[derive(Debug)]
pub enum Append {}

macro_rules! append {
    ($([$($generics:tt)*] $list:ty: $add:expr, $cut:expr;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<$($generics)*> Reducer<$list> for Append {
            type Update = $list;
            type Delta = $list;

            const FALLIBLE: bool = false;
            const STORED: StoredAs = StoredAs::Appended;

            fn prepare(update: $list, _: &Stamp<'_>) -> Result<$list, ReduceError> {
                Ok(update)
            }

            fn fold(value: &mut $list, mut delta: $list) -> Result<(), ReduceError> {
                $add(value, &mut delta);
                Ok(())
            }

            fn fold_stored(value: &mut $list, delta: &mut Option<$list>) -> Result<(), ReduceError> {
                if let Some(delta) = delta {
                    $add(value, delta);
                }
                Ok(())
            }

            fn apply(value: &mut $list, delta: $list) -> Result<Undo<$list>, ReduceError> {
                let before = value.len();
                Self::fold(value, delta)?;
                Ok(Undo::Length(before, $cut))
            }
        }
    )*};
}

append! {
    [T: Clone + Send + Sync + 'static] Vec<T>: Vec::append, Vec::truncate;
    [T: Clone + Send + Sync + 'static] VecDeque<T>: VecDeque::append, VecDeque::truncate;
    [] String: |value: &mut String, delta: &mut String| value.push_str(delta), String::truncate;
}

macro_rules! takes_items {
    ($($list:ident),*) => {$(
        #[diagnostic::do_not_recommend]
        impl<T, I> IntoChange<Append, $list<T>> for I
        where
            T: Clone + Send + Sync + 'static,
            I: IntoIterator<Item = T>,
        {
            fn into_change(self) -> Change<Append, $list<T>> {
                Change::Update(self.into_iter().collect())
            }
        }

        #[diagnostic::do_not_recommend]
        impl<T, I> IntoChange<Optional<Append>, Option<$list<T>>> for I
        where
            T: Clone + Send + Sync + 'static,
            I: IntoIterator<Item = T>,
        {
            fn into_change(self) -> Change<Optional<Append>, Option<$list<T>>> {
                Change::Update(Some(self.into_iter().collect()))
            }
        }
    )*};
}

takes_items!(Vec, VecDeque);

#[diagnostic::do_not_recommend]
impl<I: Into<String>> IntoChange<Append, String> for I {
    fn into_change(self) -> Change<Append, String> {
        Change::Update(self.into())
    }
}

#[diagnostic::do_not_recommend]
impl<I: Into<String>> IntoChange<Optional<Append>, Option<String>> for I {
    fn into_change(self) -> Change<Optional<Append>, Option<String>> {
        Change::Update(Some(self.into()))
    }
}

super::begins_at_default!(Append);

#[cfg(test)]
mod tests {
    use super::super::laws::{self, check};
    use super::*;

    #[test]
    fn items_are_appended() {
        check::<Append, _>(vec![1], [2, 3], vec![1, 2, 3]);
        check::<Append, _>(VecDeque::from([1]), vec![2], VecDeque::from([1, 2]));
        check::<Append, _>(vec![1], [], vec![1]);
        check::<Append, _>(vec!["a".to_owned()], Some("b".to_owned()), vec!["a".to_owned(), "b".to_owned()]);
    }

    #[test]
    fn string_takes_strings_and_characters() {
        check::<Append, _>("größe".to_owned(), "🦀", "größe🦀".to_owned());
        check::<Append, _>("a".to_owned(), 'é', "aé".to_owned());
        check::<Append, _>(String::new(), "é".to_owned(), "é".to_owned());
    }

    #[test]
    fn none_starts_empty() {
        check::<Optional<Append>, _>(None, [1], Some(vec![1]));
        check::<Optional<Append>, _>(Some(vec![1]), [2], Some(vec![1, 2]));
        check::<Optional<Append>, _>(None, "x", Some("x".to_owned()));
    }

    #[test]
    fn long_list_is_not_copied() {
        let mut value: Vec<laws::NeverCloned> = (0..100_000).map(laws::NeverCloned).collect();
        let undo = Append::apply(&mut value, vec![laws::NeverCloned(7)]).unwrap();
        assert_eq!(value.len(), 100_001);
        undo.undo(&mut value);
        assert_eq!(value.len(), 100_000);
    }
}
