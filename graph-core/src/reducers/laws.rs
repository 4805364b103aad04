//! Laws of all reducers, checked by the tests of each.

use std::cmp::Ordering;
use std::fmt::Debug;
use std::hash::{Hash, Hasher};

use crate::state::{Change, IntoChange};

use super::{Reducer, Stamp};

fn applied<R: Reducer<T>, T: Clone>(value: &mut T, change: Change<R, T>) -> Result<super::Undo<T>, String> {
    let prepared = change.prepare(&Stamp::new("node", 0, 0)).map_err(|error| error.to_string())?;
    prepared.apply(value).map_err(|error| error.to_string())
}

/// Checks that `apply`, `fold` and `fold_stored` of the given write turn `before` into `after`, and that it can be undone.
#[track_caller]
pub(super) fn check<R, T>(before: T, given: impl IntoChange<R, T>, after: T)
where
    R: Reducer<T>,
    T: Clone + PartialEq + Debug,
{
    let change = given.into_change();
    if let Change::Update(update) = change.clone() {
        let mut folded = before.clone();
        let delta = R::prepare(update, &Stamp::new("node", 0, 0)).unwrap();
        R::fold(&mut folded, delta.clone()).unwrap();
        assert_eq!(folded, after, "fold");
        let mut restored = before.clone();
        R::fold_stored(&mut restored, &mut Some(delta)).unwrap();
        assert_eq!(restored, after, "fold_stored");
    }
    let mut value = before.clone();
    let undo = applied(&mut value, change).unwrap();
    assert_eq!(value, after, "apply");
    undo.undo(&mut value);
    assert_eq!(value, before, "undo");
}

/// Checks that the given write fails with this message and leaves the value unchanged.
#[track_caller]
pub(super) fn check_error<R, T>(before: T, given: impl IntoChange<R, T>, expected: &str)
where
    R: Reducer<T>,
    T: Clone + PartialEq + Debug,
{
    let mut value = before.clone();
    assert_eq!(applied(&mut value, given.into_change()).unwrap_err(), expected);
    assert_eq!(value, before);
}

/// Panics when it is cloned.
#[derive(Debug, PartialEq)]
pub(super) struct NeverCloned(pub(super) u32);

impl Clone for NeverCloned {
    fn clone(&self) -> Self {
        panic!("cloned");
    }
}

/// Panics when 13 is compared with 1. All values have the same hash, so a hash map compares them.
#[derive(Clone, Copy, Debug)]
pub(super) struct PanicsOnCompare(pub(super) u8);

impl PartialEq for PanicsOnCompare {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for PanicsOnCompare {}

impl PartialOrd for PanicsOnCompare {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for PanicsOnCompare {
    fn cmp(&self, other: &Self) -> Ordering {
        assert!(!matches!((self.0, other.0), (13, 1) | (1, 13)), "touched");
        self.0.cmp(&other.0)
    }
}

impl Hash for PanicsOnCompare {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}
