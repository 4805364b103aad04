//! What the derive asks of the types of fields, in words of our own at the field's type.

use serde::{Serialize, de::DeserializeOwned};

/// A type that has passed the checks that `FITS` stands for.
///
/// The derive asks for the traits below in a constant. When one does not hold, that is the one error: the constant is
/// broken, `Same` is an error type, and rustc is silent about everything that is made of it.
pub trait Checked<const FITS: bool> {
    /// The type itself.
    type Same;
}

impl<T> Checked<true> for T {
    type Same = T;
}

/// The type itself, written with as many tokens as it takes to underline a whole type.
pub type Itself<T> = T;

/// Stands for any state where it is asked whether that can have a field of a type.
///
/// Were the type itself asked, rustc would find that a reference to it fits, and say no more than to borrow it.
#[derive(Debug)]
pub enum AnyState {}

/// Whether a state can have a field of type `T`.
#[diagnostic::on_unimplemented(
    message = "a state cannot have a field of type `{T}`",
    label = "`{T}` is not `Clone + Send + Sync + 'static`",
    note = "a state is read by many tasks at once, and copied, its untracked fields too; put what cannot be copied into an `Arc`, or what cannot be shared into an `Arc<Mutex<_>>`"
)]
pub trait FieldType<T> {
    /// Asking for it asks for the trait.
    const FITS: () = ();
}

#[diagnostic::do_not_recommend]
impl<T: Clone + Send + Sync + 'static> FieldType<T> for AnyState {}

/// A type that a fresh run can start with.
#[diagnostic::on_unimplemented(
    message = "a field of type `{Self}` has no value to start with",
    label = "`{Self}` has no `Default`",
    note = "implement `Default`, give the field a start value with `#[state(default = ..)]`, or ask the caller for it with `#[state(input)]`"
)]
pub trait StartValue: Sized {
    /// Asking for it asks for the trait.
    const FITS: () = ();

    /// The value at the start of a run.
    fn start() -> Self;
}

#[diagnostic::do_not_recommend]
impl<T: Default> StartValue for T {
    fn start() -> Self {
        Self::default()
    }
}

/// A type of an untracked field that a run is given.
#[diagnostic::on_unimplemented(
    message = "an untracked field of type `{Self}` has no value when a checkpoint is read",
    label = "`{Self}` has no `Default`, and no checkpoint holds the field",
    note = "implement `Default`, or give the field a value to start with: `#[state(default = ..)]`"
)]
pub trait UntrackedStart: Sized {
    /// Asking for it asks for the trait.
    const FITS: () = ();
}

#[diagnostic::do_not_recommend]
impl<T: Default> UntrackedStart for T {}

/// A type that checkpoints, dumps and JSON updates can hold.
#[diagnostic::on_unimplemented(
    message = "a field of type `{Self}` cannot be written and read back",
    label = "`{Self}` is not `serde::Serialize + serde::Deserialize`",
    note = "derive both for it, say how with `#[state(with = ..)]` or `#[state(serialize_with = ..)]`, or keep the field in the process with `#[state(untracked)]`"
)]
pub trait Tracked: Sized {
    /// Asking for it asks for the trait.
    const FITS: () = ();
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned> Tracked for T {}

/// A type that dumps can hold; it is read through a function of the field's.
#[diagnostic::on_unimplemented(
    message = "a field of type `{Self}` cannot be written",
    label = "`{Self}` is not `serde::Serialize`",
    note = "derive it, or say how to write the field with `#[state(serialize_with = ..)]`"
)]
pub trait Written: Sized {
    /// Asking for it asks for the trait.
    const FITS: () = ();
}

#[diagnostic::do_not_recommend]
impl<T: Serialize> Written for T {}

/// What a reducer of the user's own takes, and what it makes of that, when the field is tracked.
#[diagnostic::on_unimplemented(
    message = "what is written to this field, `{Self}`, cannot be stored and read back",
    label = "the reducer's `Update` or `Delta` is `{Self}`, which is not `serde::Serialize + serde::Deserialize`",
    note = "derive both for it, or keep the field in the process with `#[state(untracked)]`"
)]
pub trait TrackedUpdate: Sized {
    /// Asking for it asks for the trait.
    const FITS: () = ();
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned> TrackedUpdate for T {}

/// What an input holds besides its update, known to generated code only.
pub trait Held {
    /// The required fields, and the inputs of flattened states.
    type Given;
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
