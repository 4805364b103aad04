//! Properties of the built-in reducers.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::fmt::Debug;

use proptest::collection::{btree_map, btree_set, hash_map, hash_set, vec, vec_deque};
use proptest::option;
use proptest::prelude::*;
use superstep::reducers::{Add, Append, Begin, Max, Merge, Min, Optional, Reducer, Union};

/// Checks that `apply` equals `fold`, and that undoing all steps in reverse restores the start.
fn folds_and_undoes<R, T>(start: &T, deltas: &[T]) -> T
where
    R: Reducer<T, Delta = T>,
    T: Clone + PartialEq + Debug,
{
    let (mut folded, mut value) = (start.clone(), start.clone());
    let mut steps = Vec::new();
    for delta in deltas {
        let before = value.clone();
        let fold = R::fold(&mut folded, delta.clone());
        match R::apply(&mut value, delta.clone()) {
            Ok(undo) => steps.push((undo, before)),
            Err(error) => {
                assert_eq!(value, before, "after an error");
                assert_eq!(fold.unwrap_err().to_string(), error.to_string());
            }
        }
        assert_eq!(value, folded);
    }
    let after = value.clone();
    for (undo, before) in steps.into_iter().rev() {
        undo.undo(&mut value);
        assert_eq!(value, before);
    }
    after
}

/// Checks that folding `b` and then `c` equals folding both at once.
fn associates<R, T>(a: &T, b: &T, c: &T)
where
    R: Reducer<T, Delta = T>,
    T: Clone + PartialEq + Debug,
{
    let folded = |value: &T, delta: &T| {
        let mut value = value.clone();
        R::fold(&mut value, delta.clone()).unwrap();
        value
    };
    assert_eq!(folded(&folded(a, b), c), folded(a, &folded(b, c)));
}

/// Checks that folding the same delta twice equals folding it once.
fn repeats<R, T>(a: &T, b: &T)
where
    R: Reducer<T, Delta = T>,
    T: Clone + PartialEq + Debug,
{
    let mut value = a.clone();
    R::fold(&mut value, b.clone()).unwrap();
    let once = value.clone();
    R::fold(&mut value, b.clone()).unwrap();
    assert_eq!(value, once);
}

/// Checks the same laws for an optional field.
fn optional<R, T>(start: Option<T>, deltas: &[Option<T>])
where
    R: Begin<T, Update = T, Delta = T>,
    T: Clone + PartialEq + Debug + Send + 'static,
{
    let after = folds_and_undoes::<Optional<R>, _>(&start, deltas);
    assert_eq!(after.is_none(), start.is_none() && deltas.iter().all(Option::is_none));
}

proptest! {
    #[test]
    fn append_concatenates_lists(start in vec(any::<u8>(), 0..20), deltas in vec(vec(any::<u8>(), 0..5), 0..6)) {
        let after = folds_and_undoes::<Append, _>(&start, &deltas);
        prop_assert_eq!(&after, &[start.clone(), deltas.concat()].concat());

        let deque = |list: &Vec<u8>| list.iter().copied().collect::<VecDeque<_>>();
        let deques: Vec<_> = deltas.iter().map(deque).collect();
        prop_assert_eq!(folds_and_undoes::<Append, _>(&deque(&start), &deques), deque(&after));
        optional::<Append, _>(None, &deltas.into_iter().map(Some).collect::<Vec<_>>());
    }

    #[test]
    fn append_concatenates_strings(start in "\\PC*", deltas in vec("\\PC*", 0..6)) {
        let after = folds_and_undoes::<Append, String>(&start, &deltas);
        prop_assert_eq!(after, format!("{start}{}", deltas.concat()));
    }

    #[test]
    fn merge_keeps_the_last_value_of_each_key(
        a in btree_map(0..9_u8, any::<u8>(), 0..9),
        b in btree_map(0..9_u8, any::<u8>(), 0..9),
        c in hash_map("[a-c]", option::of(any::<bool>()), 0..9),
        d in hash_map("[a-c]", option::of(any::<bool>()), 0..9),
    ) {
        let after = folds_and_undoes::<Merge, _>(&a, &[b.clone(), a.clone(), b.clone()]);
        for (key, value) in &after {
            prop_assert_eq!(Some(value), b.get(key).or(a.get(key)));
        }
        associates::<Merge, _>(&a, &b, &a);
        repeats::<Merge, _>(&a, &b);
        associates::<Merge, HashMap<_, _>>(&c, &d, &c);
        folds_and_undoes::<Merge, _>(&c, &[d, c.clone()]);
        optional::<Merge, BTreeMap<_, _>>(None, &[Some(a), None, Some(b)]);
    }

    #[test]
    fn union_adds_missing_items(
        a in vec(0..9_u8, 0..9),
        b in vec(0..9_u8, 0..9),
        c in vec_deque("[a-c]", 0..4),
        d in hash_set(0..9_u8, 0..9),
        e in hash_set(0..9_u8, 0..9),
        f in btree_set(0..9_u8, 0..9),
        g in btree_set(0..9_u8, 0..9),
    ) {
        let after = folds_and_undoes::<Union, _>(&a, &[b.clone(), a.clone()]);
        prop_assert!(after.starts_with(&a));
        prop_assert!(b.iter().all(|item| after.contains(item)));
        associates::<Union, _>(&a, &b, &after);
        repeats::<Union, _>(&a, &b);
        repeats::<Union, VecDeque<String>>(&c, &c);

        prop_assert_eq!(folds_and_undoes::<Union, _>(&d, std::slice::from_ref(&e)), &d | &e);
        prop_assert_eq!(folds_and_undoes::<Union, _>(&f, std::slice::from_ref(&g)), &f | &g);
        associates::<Union, HashSet<_>>(&d, &e, &d);
        optional::<Union, BTreeSet<_>>(Some(f), &[None, Some(g)]);
    }

    #[test]
    fn min_and_max_keep_one_of_the_values(start in any::<f64>(), deltas in vec(any::<f64>(), 0..6)) {
        let all = || deltas.iter().chain([&start]).copied();
        if !start.is_nan() && !deltas.iter().any(|delta| delta.is_nan()) {
            prop_assert_eq!(folds_and_undoes::<Min, _>(&start, &deltas), all().fold(start, f64::min));
            prop_assert_eq!(folds_and_undoes::<Max, _>(&start, &deltas), all().fold(start, f64::max));
            repeats::<Min, _>(&start, &start);
        }
        let deltas: Vec<_> = deltas.iter().map(|delta| *delta as i64).collect();
        for triple in deltas.windows(3) {
            associates::<Min, _>(&triple[0], &triple[1], &triple[2]);
            associates::<Max, _>(&triple[0], &triple[1], &triple[2]);
        }
        optional::<Max, _>(None, &deltas.iter().map(|delta| Some(*delta)).collect::<Vec<_>>());
    }

    #[test]
    fn add_sums_or_leaves_the_value_on_overflow(start in any::<i8>(), deltas in vec(any::<i8>(), 0..9)) {
        let after = folds_and_undoes::<Add, _>(&start, &deltas);
        let kept = deltas.iter().fold(start, |sum, delta| sum.checked_add(*delta).unwrap_or(sum));
        prop_assert_eq!(after, kept);
        let deltas: Vec<_> = deltas.iter().map(|delta| Some(f64::from(*delta))).collect();
        optional::<Add, _>(None, &deltas);
    }
}
