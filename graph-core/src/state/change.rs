use std::any::Any;

use serde::{Serialize, Serializer};

use crate::reducers::{ReduceError, Reducer, Stamp, Undo, guarded};

use super::WriteKind;

/// Replaces a field's value, past its reducer and past every other write of the superstep to that field.
///
/// It is a Rust value on purpose: nothing in a JSON *input* can express it. In the JSON of an *update* it lies under
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
    /// What a node handed in.
    Update(R::Update),
    /// The same after [`Reducer::prepare`].
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
    /// How the engine has to treat this write next to others of the same field.
    pub fn kind(&self) -> WriteKind {
        match self {
            Self::Overwrite(_) => WriteKind::Overwrite,
            _ if R::EXCLUSIVE => WriteKind::Exclusive,
            _ => WriteKind::Folded,
        }
    }

    /// Turns an update into its delta and settles what overwrites; a delta stays what it is.
    ///
    /// # Errors
    /// What [`Reducer::prepare`] and [`Reducer::prepare_overwrite`] say.
    pub fn prepare(self, stamp: &Stamp<'_>) -> Result<Self, ReduceError> {
        match self {
            // Its panic is an error of the field's, which is told with care when the field is excluded.
            Self::Update(update) if R::FALLIBLE => guarded(|| R::prepare(update, stamp)).map(Self::Delta),
            Self::Update(update) => R::prepare(update, stamp).map(Self::Delta),
            Self::Overwrite(value) if R::FALLIBLE => {
                guarded(|| R::prepare_overwrite(value, stamp)).map(Self::Overwrite)
            }
            Self::Overwrite(value) => R::prepare_overwrite(value, stamp).map(Self::Overwrite),
            Self::Delta(delta) => Ok(Self::Delta(delta)),
        }
    }

    /// Writes this change into `value`; after an error `value` is what it was.
    ///
    /// # Errors
    /// What the reducer says.
    pub fn apply(self, value: &mut T) -> Result<Undo<T>, ReduceError> {
        match self {
            // A reducer of the user's may override `apply` and panic there; one that cannot fail is not asked to pay.
            Self::Delta(delta) if R::FALLIBLE => guarded(|| R::apply(value, delta)),
            Self::Delta(delta) => R::apply(value, delta),
            Self::Overwrite(new) => Ok(Undo::Value(std::mem::replace(value, new))),
            Self::Update(_) => Err(ReduceError::new("an update must be prepared before it is applied")),
        }
    }
}

impl<R: Reducer<T>, T: Clone + 'static> Change<R, T> {
    /// What was written: the update, the delta or the overwriting value, whichever this is.
    pub fn value(&self) -> &dyn Any {
        match self {
            Self::Update(update) => update,
            Self::Delta(delta) => delta,
            Self::Overwrite(value) => value,
        }
    }
}

impl<R: Reducer<T, Update = T, Delta = T>, T: Clone> Change<R, T> {
    /// What was written, when updates and deltas are of the field's own type.
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

/// What the setter of a field folded by `R` takes.
#[diagnostic::on_unimplemented(
    message = "a field of type `{T}` with reducer `{R}` cannot take `{Self}`",
    label = "cannot be written to this field",
    note = "a field without a reducer takes its value; `append`, `union` and `merge` take whatever iterates over items \
            of exactly the field's type, `add_messages` messages, texts, `(Role, text)` and `Remove`, one or several, other \
            reducers take one value; every field takes `Overwrite(value)`"
)]
pub trait IntoChange<R: Reducer<T>, T: Clone> {
    /// The write this value stands for.
    fn into_change(self) -> Change<R, T>;
}

#[diagnostic::do_not_recommend]
impl<R: Reducer<T>, T: Clone> IntoChange<R, T> for Overwrite<T> {
    fn into_change(self) -> Change<R, T> {
        Change::Overwrite(self.0)
    }
}

/// What the setter of a field folded by a user's reducer takes: exactly its update `U`, or [`Overwrite`].
///
/// `M` tells the two apart; it is always inferred.
#[diagnostic::on_unimplemented(
    message = "a field of type `{T}` whose reducer takes `{U}` cannot take `{Self}`",
    label = "the reducer takes `{U}`",
    note = "a reducer of your own takes exactly its update; every field takes `Overwrite(value)`"
)]
pub trait IntoCustomChange<R: Reducer<T>, T: Clone, U, M> {
    /// The write this value stands for.
    fn into_change(self) -> Change<R, T>;
}

/// Marks a custom reducer's own update.
#[derive(Debug)]
pub enum ByUpdate {}
/// Marks an [`Overwrite`].
#[derive(Debug)]
pub enum ByOverwrite {}

impl<R, T: Clone, U> IntoCustomChange<R, T, U, ByUpdate> for U
where
    R: Reducer<T, Update = U>,
{
    fn into_change(self) -> Change<R, T> {
        Change::Update(self)
    }
}

impl<R: Reducer<T>, T: Clone, U> IntoCustomChange<R, T, U, ByOverwrite> for Overwrite<T> {
    fn into_change(self) -> Change<R, T> {
        Change::Overwrite(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    enum Explosive {}

    impl Reducer<u8> for Explosive {
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
    fn a_panic_in_an_own_apply_is_an_error() {
        let error = Change::<Explosive, u8>::Delta(1).apply(&mut 0).unwrap_err();
        assert_eq!(error.to_string(), "the reducer panicked: bang");
    }

    #[test]
    fn an_update_is_not_applied_before_it_is_prepared() {
        assert!(Change::<Explosive, u8>::Update(1).apply(&mut 0).is_err());
    }
}
