use std::collections::{BTreeSet, HashSet, VecDeque};
use std::hash::{BuildHasher, Hash};

use crate::state::{Change, IntoChange};

use super::{Optional, ReduceError, Reducer, Stamp, StoredAs, Undo, guarded};

/// Adds the items that a set or a list does not contain yet. The order of a list stays.
///
/// In a list, each item is compared with all others; use a set for many items.
///
/// ```
/// use superstep::reducers::{Reducer, Union};
///
/// let mut tags = vec!["b", "a"];
/// Union::fold(&mut tags, vec!["a", "c", "c"])?;
/// assert_eq!(tags, ["b", "a", "c"]);
/// # Ok::<(), superstep::reducers::ReduceError>(())
/// ```
#[derive(Debug)]
pub enum Union {}

macro_rules! union {
    ($([$($generics:tt)*] $of:ty, $apply:ident, [$($collects:tt)*];)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<$($generics)*> Reducer<$of> for Union {
            type Update = $of;
            type Delta = $of;

            const STORED: StoredAs = StoredAs::Delta;

            fn prepare(update: $of, _: &Stamp<'_>) -> Result<$of, ReduceError> {
                Ok(update)
            }

            fn fold(value: &mut $of, delta: $of) -> Result<(), ReduceError> {
                Self::apply(value, delta).map(drop)
            }

            fn apply(value: &mut $of, delta: $of) -> Result<Undo<$of>, ReduceError> {
                $apply!(value, delta, $of)
            }
        }

        #[diagnostic::do_not_recommend]
        impl<$($collects)*> IntoChange<Union, $of> for I {
            fn into_change(self) -> Change<Union, $of> {
                Change::Update(self.into_iter().collect())
            }
        }

        #[diagnostic::do_not_recommend]
        impl<$($collects)*> IntoChange<Optional<Union>, Option<$of>> for I {
            fn into_change(self) -> Change<Optional<Union>, Option<$of>> {
                Change::Update(Some(self.into_iter().collect()))
            }
        }
    )*};
}

macro_rules! into_list {
    ($value:ident, $delta:ident, $list:ty) => {{
        let before = $value.len();
        let united = guarded(|| {
            for item in $delta {
                if !$value.contains(&item) {
                    $value.extend([item]);
                }
            }
            Ok(())
        });
        match united {
            Ok(()) => Ok(Undo::Length(before, <$list>::truncate)),
            Err(error) => {
                $value.truncate(before);
                Err(error)
            }
        }
    }};
}

macro_rules! into_set {
    ($value:ident, $delta:ident, $set:ty) => {{
        let mut added = Vec::new();
        let united = guarded(|| {
            for item in $delta {
                if !$value.contains(&item) {
                    added.push(item.clone());
                    $value.insert(item);
                }
            }
            Ok(())
        });
        let back = move |value: &mut $set| {
            for item in &added {
                value.remove(item);
            }
        };
        match united {
            Ok(()) => Ok(Undo::With(Box::new(back))),
            Err(error) => guarded(|| Ok(back($value))).and(Err(error)),
        }
    }};
}

union! {
    [T: PartialEq + Clone + Send + Sync + 'static] Vec<T>, into_list,
    [T: PartialEq + Clone + Send + Sync + 'static, I: IntoIterator<Item = T>];

    [T: PartialEq + Clone + Send + Sync + 'static] VecDeque<T>, into_list,
    [T: PartialEq + Clone + Send + Sync + 'static, I: IntoIterator<Item = T>];

    [T: Ord + Clone + Send + Sync + 'static] BTreeSet<T>, into_set,
    [T: Ord + Clone + Send + Sync + 'static, I: IntoIterator<Item = T>];

    [
        T: Eq + Hash + Clone + Send + Sync + 'static,
        H: BuildHasher + Clone + Send + Sync + 'static
    ] HashSet<T, H>, into_set,
    [
        T: Eq + Hash + Clone + Send + Sync + 'static,
        H: BuildHasher + Default + Clone + Send + Sync + 'static,
        I: IntoIterator<Item = T>
    ];
}

super::begins_at_default!(Union);

#[cfg(test)]
mod tests {
    use super::super::laws::{PanicsOnCompare, check, check_error};
    use super::*;

    #[test]
    fn only_missing_items_are_added() {
        check::<Union, _>(vec![2, 1], [1, 3, 3], vec![2, 1, 3]);
        check::<Union, _>(VecDeque::from([2]), [1], VecDeque::from([2, 1]));
        check::<Union, _>(BTreeSet::from([2, 1]), [1, 3], BTreeSet::from([1, 2, 3]));
        check::<Union, _>(HashSet::from(['é']), ['é', 'e'], HashSet::from(['é', 'e']));
    }

    #[test]
    fn none_starts_empty() {
        check::<Optional<Union>, _>(None, [1, 1], Some(vec![1]));
        check::<Optional<Union>, _>(None, [], Some(BTreeSet::<u8>::new()));
    }

    #[test]
    fn panicking_item_is_an_error() {
        let items = [PanicsOnCompare(2), PanicsOnCompare(13)];
        let expected = "the reducer panicked: touched";
        check_error::<Union, _>(vec![PanicsOnCompare(1)], items, expected);
        check_error::<Union, _>(HashSet::from([PanicsOnCompare(1)]), items, expected);
        check_error::<Union, _>(BTreeSet::from([PanicsOnCompare(1)]), items, expected);
    }
}
