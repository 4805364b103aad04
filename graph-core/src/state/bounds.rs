//! What the derive asks of the types of fields, in words of our own at the field's type.

use serde::{Serialize, de::DeserializeOwned};

/// A type that a fresh run can start with.
#[diagnostic::on_unimplemented(
    message = "a field of type `{Self}` has no value to start with",
    label = "`{Self}` has no `Default`",
    note = "implement `Default`, give the field a start value with `#[state(default = ..)]`, or ask the caller for it with `#[state(input)]`"
)]
pub trait StartValue: Sized {
    /// The value at the start of a run.
    fn start() -> Self;
}

#[diagnostic::do_not_recommend]
impl<T: Default> StartValue for T {
    fn start() -> Self {
        Self::default()
    }
}

/// A type that checkpoints, dumps and JSON updates can hold.
#[diagnostic::on_unimplemented(
    message = "a field of type `{Self}` cannot be written and read back",
    label = "`{Self}` is not `serde::Serialize + serde::Deserialize`",
    note = "derive both for it, say how with `#[state(with = ..)]` or `#[state(serialize_with = ..)]`, or keep the field in the process with `#[state(untracked)]`"
)]
pub trait Tracked: Sized {
    /// The type itself: what is generated goes on with it, so that a type that is not tracked is one error.
    type Same;
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned> Tracked for T {
    type Same = Self;
}

/// The input of a flattened state that may be left out.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has required fields",
    label = "the input of this state cannot be left out",
    note = "mark the field with `#[state(flatten, input)]`: its input is then an argument of this state's input"
)]
pub trait OptionalInput: Sized {
    /// The input that gives nothing.
    fn nothing() -> Self;
}

#[diagnostic::do_not_recommend]
impl<T: Default> OptionalInput for T {
    fn nothing() -> Self {
        Self::default()
    }
}
