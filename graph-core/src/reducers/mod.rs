//! How writes are folded into fields.

use std::panic::{AssertUnwindSafe, catch_unwind};

mod add;
mod any_value;
mod append;
mod function;
#[cfg(test)]
mod laws;
mod max;
mod merge;
mod min;
mod optional;
mod order;
mod replace;
mod union;

pub use add::Add;
pub use any_value::AnyValue;
pub use append::Append;
#[doc(hidden)]
pub use function::FoldOutcome;
pub use max::Max;
pub use merge::Merge;
pub use min::Min;
pub use optional::{Begin, Optional};
pub use replace::Replace;
pub use union::Union;

/// Folds writes into a field of type `T`, in two phases.
///
/// `prepare` runs once for each task and settles whatever is not deterministic; `fold` is pure, runs in application
/// order, and may run again when a thread is replayed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot fold a field of type `{T}`",
    label = "`{Self}` does not know how to fold this type",
    note = "`append` folds lists and strings, `union` lists and sets, `merge` maps, `add` numbers and durations, \
            `min` and `max` what can be compared, `any_value` everything"
)]
pub trait Reducer<T: Clone>: Sized + 'static {
    /// What a node hands in.
    type Update: Clone + Send + Sync + 'static;
    /// What is folded, and stored.
    type Delta: Clone + Send + Sync + 'static;

    /// Whether two tasks of one superstep that write the field are in conflict.
    const EXCLUSIVE: bool = false;
    /// Whether folding can fail (or panic). The engine keeps what it needs to run the siblings' results again only if so.
    const FALLIBLE: bool = true;

    /// Settles what is not deterministic, such as ids.
    ///
    /// # Errors
    /// The update cannot be used; the task that made it fails.
    fn prepare(update: Self::Update, stamp: &Stamp<'_>) -> Result<Self::Delta, ReduceError>;

    /// Folds `delta` into `value`.
    ///
    /// # Errors
    /// The delta does not fit the value; nothing of the superstep is applied.
    fn fold(value: &mut T, delta: Self::Delta) -> Result<(), ReduceError>;

    /// Folds `delta` into `value` and says how to take that back.
    ///
    /// The default keeps a copy of the value. A reducer that knows a cheaper way back overrides it; after an error
    /// (or a panic) `value` must be what it was.
    ///
    /// # Errors
    /// What [`fold`](Self::fold) says; a panic inside it is an error too.
    fn apply(value: &mut T, delta: Self::Delta) -> Result<Undo<T>, ReduceError> {
        let before = guarded(|| Ok(value.clone()))?;
        match guarded(|| Self::fold(value, delta)) {
            Ok(()) => Ok(Undo::Value(before)),
            Err(error) => {
                *value = before;
                Err(error)
            }
        }
    }
}

/// Runs code of the user's (`fold`, `Clone`, `Hash`, `PartialOrd` ..): its panic is an error like any other.
fn guarded<T>(run: impl FnOnce() -> Result<T, ReduceError>) -> Result<T, ReduceError> {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| Err(ReduceError::from_panic(&*panic)))
}

/// Lets the setters of fields that `$reducer` folds take one value of the field's type.
macro_rules! takes_one {
    ($reducer:ident) => {
        #[diagnostic::do_not_recommend]
        impl<T: Clone> crate::state::IntoChange<$reducer, T> for T
        where
            $reducer: Reducer<T, Update = T>,
        {
            fn into_change(self) -> crate::state::Change<$reducer, T> {
                crate::state::Change::Update(self)
            }
        }

        #[diagnostic::do_not_recommend]
        impl<T: Clone + Send + 'static>
            crate::state::IntoChange<crate::reducers::Optional<$reducer>, Option<T>> for T
        where
            $reducer: crate::reducers::Begin<T, Update = T>,
        {
            fn into_change(self) -> crate::state::Change<crate::reducers::Optional<$reducer>, Option<T>> {
                crate::state::Change::Update(Some(self))
            }
        }

        #[diagnostic::do_not_recommend]
        impl<T: Clone + Send + 'static>
            crate::state::IntoChange<crate::reducers::Optional<$reducer>, Option<T>> for Option<T>
        where
            $reducer: crate::reducers::Begin<T, Update = T>,
        {
            fn into_change(self) -> crate::state::Change<crate::reducers::Optional<$reducer>, Option<T>> {
                crate::state::Change::Update(self)
            }
        }
    };
}
use takes_one;

/// Which write a reducer is preparing; everything a stable id may be derived from.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Stamp<'a> {
    /// The thread, when there is one.
    pub thread: Option<&'a str>,
    /// The superstep.
    pub step: u64,
    /// The node's name; `START` for a run's input.
    pub node: &'a str,
    /// The task's place in its superstep.
    pub index: usize,
}

impl<'a> Stamp<'a> {
    /// A stamp for the task at `index` of superstep `step`.
    pub fn new(node: &'a str, step: u64, index: usize) -> Self {
        Self { thread: None, step, node, index }
    }
}

/// Takes one fold back.
pub enum Undo<T> {
    /// Puts the value back that was there.
    Value(T),
    /// Cuts back to a length.
    Length(usize, fn(&mut T, usize)),
    /// Whatever it takes.
    With(Box<dyn FnOnce(&mut T) + Send>),
}

impl<T> Undo<T> {
    /// Nothing was changed. A box around nothing allocates nothing.
    fn nothing() -> Self
    where
        T: 'static,
    {
        Self::With(Box::new(|_| {}))
    }

    /// Makes `value` what it was before the fold.
    pub fn undo(self, value: &mut T) {
        match self {
            Self::Value(before) => *value = before,
            Self::Length(length, cut) => cut(value, length),
            Self::With(back) => back(value),
        }
    }
}

impl<T> std::fmt::Debug for Undo<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Undo")
    }
}

/// A write that a reducer cannot fold.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct ReduceError {
    message: String,
    #[source]
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl ReduceError {
    /// An error in words.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), source: None }
    }

    /// An error with its cause.
    pub fn with_source(
        message: impl Into<String>,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self { message: message.into(), source: Some(source.into()) }
    }

    /// What may be said of an error on the field at `field`: this one, or no more than that there is one when the field's
    /// value must be in no error text.
    pub(crate) fn on_field<S: crate::state::GraphState>(self, field: usize) -> Self {
        match S::field(field) {
            Some(spec) if spec.excluded => {
                Self::new("the write does not fit (the field is excluded, so no more is said)")
            }
            _ => self,
        }
    }

    fn from_panic(panic: &(dyn std::any::Any + Send)) -> Self {
        Self::new(format!("the reducer panicked: {}", crate::panic_text(panic)))
    }
}
