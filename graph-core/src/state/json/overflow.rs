//! Problems of numbers that are too large for their type.

use super::super::stored::overflow_of;
use super::super::{FieldWrite as _, GraphState, Input as _, InputProblem, Update};
use super::path;

type WriteOf<S> = <<S as GraphState>::Update as Update<S>>::Write;

/// Returns the problem of a write to `key`, if it holds infinity. `at` is the path of the object with the key.
pub(super) fn problem_of<S: GraphState>(at: &str, key: &str, write: &WriteOf<S>) -> Option<InputProblem> {
    let error = overflow_of::<S, _>(write)?;
    let (inside, message) = error.overflow()?;
    let mut path = at.to_owned();
    path::push_key(&mut path, key);
    path.push_str(inside);
    Some(InputProblem { path, message: message.to_owned() })
}

/// Returns the problems of the fields of an input that hold infinity.
pub(super) fn problems_of<S: GraphState>(input: &S::Input) -> Vec<InputProblem> {
    let update = input.clone().into_update();
    let name = |write: &WriteOf<S>| S::field(write.field()).map_or("?", |spec| spec.name);
    update.__writes().iter().filter_map(|write| problem_of::<S>("$", name(write), write)).collect()
}
