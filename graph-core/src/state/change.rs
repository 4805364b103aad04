use std::any::Any;

use serde::{Serialize, Serializer};

use crate::reducers::{ReduceError, Reducer, Stamp, Undo, guarded};

use super::WriteKind;

/// Replaces a field's value. It bypasses the reducer and drops every other write of the superstep to that field.
///
/// It is a Rust value on purpose: the JSON of an *input* cannot express it. In the JSON of an *update* it is under
/// `$overwrite`.
///
/// ```
/// use superstep::{GraphState, Overwrite};
///
/// #[derive(GraphState, Clone)]
/// struct Ticket {
///     #[state(reducer = append)]
///     notes: Vec<String>,
/// }
///
/// let cleared = Ticket::update().notes(Overwrite(vec![]));
/// assert_eq!(serde_json::to_string(&cleared)?, r#"{"$overwrite":{"notes":[]}}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overwrite<T>(pub T);

/// One write to a field of type `T` that the reducer `R` folds.
pub enum Change<R: Reducer<T>, T: Clone> {
    /// The update that a node returned.
    Update(R::Update),
    /// The update after [`Reducer::prepare`].
    Delta(R::Delta),
    /// The field's new value.
    Overwrite(T),
}

impl<R: Reducer<T>, T: Clone> Clone for Change<R, T> {
    fn clone(&self) -> Self {
        match self {
            Self::Update(update) => Self::Update(update.clone()),
            Self::Delta(delta) => Self::Delta(delta.clone()),
            Self::Overwrite(value) => Self::Overwrite(value.clone()),
        }
    }
}

impl<R: Reducer<T>, T: Clone> Change<R, T> {
    /// Returns how this write combines with other writes to the same field.
    pub fn kind(&self) -> WriteKind {
        match self {
            Self::Overwrite(_) => WriteKind::Overwrite,
            _ if R::EXCLUSIVE => WriteKind::Exclusive,
            _ => WriteKind::Folded,
        }
    }

    /// Turns an update into its delta, and prepares an overwrite. A delta stays unchanged.
    ///
    /// # Errors
    /// The error of [`Reducer::prepare`] or [`Reducer::prepare_overwrite`].
    pub fn prepare(self, stamp: &Stamp<'_>) -> Result<Self, ReduceError> {
        match self {
            // A panic becomes an error of the field, so that nothing is revealed if the field is excluded.
            Self::Update(update) if R::FALLIBLE => guarded(|| R::prepare(update, stamp)).map(Self::Delta),
            Self::Update(update) => R::prepare(update, stamp).map(Self::Delta),
            Self::Overwrite(value) if R::FALLIBLE => {
                guarded(|| R::prepare_overwrite(value, stamp)).map(Self::Overwrite)
            }
            Self::Overwrite(value) => R::prepare_overwrite(value, stamp).map(Self::Overwrite),
            Self::Delta(delta) => Ok(Self::Delta(delta)),
        }
    }

    /// Writes this change into `value`. If it fails, `value` is unchanged.
    ///
    /// # Errors
    /// The error of the reducer.
    pub fn apply(self, value: &mut T) -> Result<Undo<T>, ReduceError> {
        match self {
            // A user's reducer may override `apply` and panic there. A reducer that cannot fail does not pay for the guard.
            Self::Delta(delta) if R::FALLIBLE => guarded(|| R::apply(value, delta)),
            Self::Delta(delta) => R::apply(value, delta),
            Self::Overwrite(new) => Ok(Undo::Value(std::mem::replace(value, new))),
            Self::Update(_) => Err(ReduceError::new("an update must be prepared before it is applied")),
        }
    }
}

impl<R: Reducer<T>, T: Clone + 'static> Change<R, T> {
    /// Returns the written value: the update, the delta or the overwriting value.
    pub fn value(&self) -> &dyn Any {
        match self {
            Self::Update(update) => update,
            Self::Delta(delta) => delta,
            Self::Overwrite(value) => value,
        }
    }
}

impl<R: Reducer<T, Update = T, Delta = T>, T: Clone> Change<R, T> {
    /// Returns the written value, if updates and deltas are of the field's own type.
    pub fn as_field(&self) -> &T {
        match self {
            Self::Update(value) | Self::Delta(value) | Self::Overwrite(value) => value,
        }
    }
}

impl<R, T> Serialize for Change<R, T>
where
    R: Reducer<T, Update: Serialize, Delta: Serialize>,
    T: Clone + Serialize,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Update(update) => update.serialize(serializer),
            Self::Delta(delta) => delta.serialize(serializer),
            Self::Overwrite(value) => value.serialize(serializer),
        }
    }
}

/// A value that the setter of a field with reducer `R` takes.
#[diagnostic::on_unimplemented(
    message = "a field of type `{T}` with reducer `{R}` cannot take `{Self}`",
    label = "cannot be written to this field"
)]
// The bounds are on the method: for a bound of the trait, rustc would report a type that no state can have at each setter.
pub trait IntoChange<R, T> {
    /// Converts this value into a write.
    fn into_change(self) -> Change<R, T>
    where
        R: Reducer<T>,
        T: Clone;
}

#[diagnostic::do_not_recommend]
impl<R: Reducer<T>, T: Clone> IntoChange<R, T> for Overwrite<T> {
    fn into_change(self) -> Change<R, T> {
        Change::Overwrite(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    enum PanicsOnApply {}

    impl Reducer<u8> for PanicsOnApply {
        type Update = u8;
        type Delta = u8;

        fn prepare(update: u8, _: &Stamp<'_>) -> Result<u8, ReduceError> {
            Ok(update)
        }

        fn fold(_: &mut u8, _: u8) -> Result<(), ReduceError> {
            Ok(())
        }

        fn apply(_: &mut u8, _: u8) -> Result<Undo<u8>, ReduceError> {
            panic!("bang");
        }
    }

    #[test]
    fn panic_in_apply_is_an_error() {
        let error = Change::<PanicsOnApply, u8>::Delta(1).apply(&mut 0).unwrap_err();
        assert_eq!(error.to_string(), "the reducer panicked: bang");
    }

    #[test]
    fn unprepared_update_is_not_applied() {
        assert!(Change::<PanicsOnApply, u8>::Update(1).apply(&mut 0).is_err());
    }
}
