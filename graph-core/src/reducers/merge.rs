use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, Hash};

use serde_json::{Map, Value};

use crate::state::{Change, IntoChange};

use super::{Optional, ReduceError, Reducer, Stamp, StoredAs, Undo, guarded};

/// Inserts entries into a map. A later entry replaces an earlier one with the same key.
///
/// ```
/// use std::collections::BTreeMap;
/// use superstep::reducers::{Merge, Reducer};
///
/// let mut scores = BTreeMap::from([("a", 1), ("b", 2)]);
/// Merge::fold(&mut scores, BTreeMap::from([("b", 3), ("c", 4)]))?;
/// assert_eq!(scores, BTreeMap::from([("a", 1), ("b", 3), ("c", 4)]));
/// # Ok::<(), superstep::reducers::ReduceError>(())
/// ```
#[derive(Debug)]
pub enum Merge {}

macro_rules! merge {
    ($([$($generics:tt)*] $map:ty, $key:ty, $value:ty, [$($collects:tt)*];)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<$($generics)*> Reducer<$map> for Merge {
            type Update = $map;
            type Delta = $map;

            const STORED: StoredAs = StoredAs::Delta;

            fn prepare(update: $map, _: &Stamp<'_>) -> Result<$map, ReduceError> {
                Ok(update)
            }

            fn fold(value: &mut $map, delta: $map) -> Result<(), ReduceError> {
                value.extend(delta);
                Ok(())
            }

            fn apply(value: &mut $map, delta: $map) -> Result<Undo<$map>, ReduceError> {
                let mut replaced: Vec<($key, Option<$value>)> = Vec::with_capacity(delta.len());
                let merged = guarded(|| {
                    for (key, item) in delta {
                        let before = value.insert(key.clone(), item);
                        replaced.push((key, before));
                    }
                    Ok(())
                });
                let back = move |value: &mut $map| {
                    for (key, before) in replaced {
                        match before {
                            Some(before) => drop(value.insert(key, before)),
                            None => drop(value.remove(&key)),
                        }
                    }
                };
                match merged {
                    Ok(()) => Ok(Undo::With(Box::new(back))),
                    Err(error) => guarded(|| Ok(back(value))).and(Err(error)),
                }
            }
        }

        #[diagnostic::do_not_recommend]
        impl<$($collects)*> IntoChange<Merge, $map> for I {
            fn into_change(self) -> Change<Merge, $map> {
                Change::Update(self.into_iter().collect())
            }
        }

        #[diagnostic::do_not_recommend]
        impl<$($collects)*> IntoChange<Optional<Merge>, Option<$map>> for I {
            fn into_change(self) -> Change<Optional<Merge>, Option<$map>> {
                Change::Update(Some(self.into_iter().collect()))
            }
        }
    )*};
}

merge! {
    [
        K: Eq + Hash + Clone + Send + Sync + 'static,
        V: Clone + Send + Sync + 'static,
        H: BuildHasher + Clone + Send + Sync + 'static
    ] HashMap<K, V, H>, K, V, [
        K: Eq + Hash + Clone + Send + Sync + 'static,
        V: Clone + Send + Sync + 'static,
        H: BuildHasher + Default + Clone + Send + Sync + 'static,
        I: IntoIterator<Item = (K, V)>
    ];
    [
        K: Ord + Clone + Send + Sync + 'static,
        V: Clone + Send + Sync + 'static
    ] BTreeMap<K, V>, K, V, [
        K: Ord + Clone + Send + Sync + 'static,
        V: Clone + Send + Sync + 'static,
        I: IntoIterator<Item = (K, V)>
    ];
    [] Map<String, Value>, String, Value, [I: IntoIterator<Item = (String, Value)>];
}

super::begins_at_default!(Merge);

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::laws::{PanicsOnCompare, check, check_error};
    use super::*;

    #[test]
    fn later_entries_win() {
        let map = |entries: &[(&'static str, i32)]| entries.iter().copied().collect::<BTreeMap<_, _>>();
        check::<Merge, _>(map(&[("a", 1)]), [("b", 3), ("a", 4), ("a", 5)], map(&[("a", 5), ("b", 3)]));
        check::<Merge, _>(HashMap::from([(1, 'a')]), [(1, 'b')], HashMap::from([(1, 'b')]));
        check::<Optional<Merge>, _>(None, [("a", 1)], Some(map(&[("a", 1)])));
    }

    #[test]
    fn json_objects_are_maps() {
        let object = |value: Value| value.as_object().cloned().unwrap();
        let entries = [("b".to_owned(), json!([2]))];
        check::<Merge, _>(object(json!({"a": 1, "b": null})), entries, object(json!({"a": 1, "b": [2]})));
    }

    #[test]
    fn panicking_key_is_an_error() {
        let entries = || [(PanicsOnCompare(2), 'b'), (PanicsOnCompare(13), 'c')];
        let expected = "the reducer panicked: touched";
        check_error::<Merge, _>(HashMap::from([(PanicsOnCompare(1), 'a')]), entries(), expected);
        check_error::<Merge, _>(BTreeMap::from([(PanicsOnCompare(1), 'a')]), entries(), expected);
    }
}
