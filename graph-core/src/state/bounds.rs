//! The bounds that the derive puts on the types of fields, with messages of their own.

use std::marker::PhantomData;

use serde::{Serialize, de::DeserializeOwned};

/// A type whose checks have passed; `FITS` stands for them.
///
/// The derive asks for the traits below in a constant. If one does not hold, that is the only error: the constant does
/// not compile, `Same` becomes an error type, and rustc does not report anything that is built from an error type.
pub trait Checked<const FITS: bool> {
    /// The type itself.
    type Same;
}

impl<T> Checked<true> for T {
    type Same = T;
}

/// A type that is `Send + Sync`, whatever `T` is.
///
/// The derive's impls have a bound on it in which it is replaced by an error type if a field does not fit. No other code
/// may use it: rustc would infer `T` by that bound.
pub struct AlwaysShared<T>(PhantomData<fn() -> T>);

/// The type itself; the alias takes enough tokens to underline a whole type.
pub type Itself<T> = T;

/// A state that tasks share between threads; only the derive implements it.
///
/// It is between [`GraphState`](crate::GraphState) and `Send + Sync`: rustc asks for the supertraits of a trait wherever
/// one of its methods is called, but not for those of its supertraits. So a field that is not `Sync` is no error there.
pub trait Shared: Send + Sync + 'static {}

/// A type that a field of a state can have: `Clone + Send + Sync + 'static`.
///
/// The derive adds this bound for a type parameter of a state that an untracked field uses.
#[diagnostic::on_unimplemented(
    message = "a state cannot have a value of type `{Self}`",
    label = "`{Self}` is not `Clone + Send + Sync + 'static`",
    note = "tasks share a state and clone it: wrap a type that is not `Clone` in an `Arc`, and one that is not `Sync` in an `Arc<Mutex<_>>`"
)]
pub trait FieldValue: Clone + Send + Sync + 'static {}

#[diagnostic::do_not_recommend]
impl<T: Clone + Send + Sync + 'static> FieldValue for T {}

/// A type that a field of a state can have and a checkpoint can store: a [`FieldValue`] that serde can write and read.
///
/// The derive adds this bound for a type parameter of a state that a field uses. Code that is generic over the parameter
/// repeats it:
///
/// ```
/// use superstep::GraphState;
/// use superstep::state::StoredValue;
///
/// #[derive(GraphState, Clone)]
/// struct Queue<T> {
///     #[state(reducer = append)]
///     done: Vec<T>,
/// }
///
/// async fn repeat<T: StoredValue>(queue: &Queue<T>) -> QueueUpdate<T> {
///     Queue::update().done(queue.done.clone())
/// }
/// # let _ = repeat::<u8>;
/// ```
#[diagnostic::on_unimplemented(
    message = "a state cannot store a value of type `{Self}`",
    label = "`{Self}` is not `Clone + Send + Sync + serde::Serialize + serde::Deserialize + 'static`",
    note = "derive `Clone`, `serde::Serialize` and `serde::Deserialize` for it; tasks share a state, so it also has to be `Send`, `Sync` and `'static`"
)]
pub trait StoredValue: FieldValue + Serialize + DeserializeOwned {}

#[diagnostic::do_not_recommend]
impl<T: FieldValue + Serialize + DeserializeOwned> StoredValue for T {}

/// Stands for any state in the question whether a state can have a field of a type.
///
/// If the question were asked of the type itself, rustc would find that a reference to it fits, and suggest to borrow it.
#[derive(Debug)]
pub enum AnyState {}

/// A state that can have a field of type `T`.
#[diagnostic::on_unimplemented(
    message = "a state cannot have a field of type `{T}`",
    label = "`{T}` is not `Clone + Send + Sync + 'static`",
    note = "tasks share a state and clone it, untracked fields included: wrap a type that is not `Clone` in an `Arc`, and one that is not `Sync` in an `Arc<Mutex<_>>`"
)]
pub trait FieldType<T> {
    /// Evaluating this constant requires the trait.
    const FITS: () = ();
}

#[diagnostic::do_not_recommend]
impl<T: Clone + Send + Sync + 'static> FieldType<T> for AnyState {}

/// A type that a fresh run can start with.
#[diagnostic::on_unimplemented(
    message = "a field of type `{Self}` has no start value",
    label = "`{Self}` has no `Default`",
    note = "implement `Default`, set a start value with `#[state(default = ..)]`, or make the field part of the input with `#[state(input)]`"
)]
pub trait StartValue: Sized {
    /// Evaluating this constant requires the trait.
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

/// The type of an untracked field that is part of the input.
#[diagnostic::on_unimplemented(
    message = "an untracked field of type `{Self}` has no value after a checkpoint is read",
    label = "`{Self}` has no `Default`, and checkpoints do not store the field",
    note = "implement `Default`, or set a start value with `#[state(default = ..)]`"
)]
pub trait UntrackedStart: Sized {
    /// Evaluating this constant requires the trait.
    const FITS: () = ();
}

#[diagnostic::do_not_recommend]
impl<T: Default> UntrackedStart for T {}

/// A type that checkpoints, dumps and JSON updates can contain.
#[diagnostic::on_unimplemented(
    message = "a field of type `{Self}` cannot be stored and read back",
    label = "`{Self}` is not `serde::Serialize + serde::Deserialize`",
    note = "derive both, name functions with `#[state(with = ..)]` or `#[state(serialize_with = ..)]`, or keep the field out of checkpoints with `#[state(untracked)]`"
)]
pub trait Tracked: Sized {
    /// Evaluating this constant requires the trait.
    const FITS: () = ();
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned> Tracked for T {}

/// A type that dumps can contain. A function on the field reads it back.
#[diagnostic::on_unimplemented(
    message = "a field of type `{Self}` cannot be serialized",
    label = "`{Self}` is not `serde::Serialize`",
    note = "derive it, or name a function with `#[state(serialize_with = ..)]`"
)]
pub trait Written: Sized {
    /// Evaluating this constant requires the trait.
    const FITS: () = ();
}

#[diagnostic::do_not_recommend]
impl<T: Serialize> Written for T {}

/// The update or the delta of a user's reducer on a tracked field.
#[diagnostic::on_unimplemented(
    message = "a write of type `{Self}` to this field cannot be stored and read back",
    label = "the reducer's `Update` or `Delta` is `{Self}`, which is not `serde::Serialize + serde::Deserialize`",
    note = "derive both, or keep the field out of checkpoints with `#[state(untracked)]`"
)]
pub trait TrackedUpdate: Sized {
    /// Evaluating this constant requires the trait.
    const FITS: () = ();
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned> TrackedUpdate for T {}

/// The parts of an input that are not its update; only generated code uses it.
pub trait Held {
    /// The required fields, and the inputs of flattened states.
    type Given;
}

/// The input of a flattened state that may be left out.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has required fields",
    label = "the input of this state cannot be left out",
    note = "mark the field with `#[state(flatten, input)]`: its input becomes an argument of this state's input"
)]
pub trait OptionalInput: Sized {
    /// The empty input.
    fn nothing() -> Self;
}

#[diagnostic::do_not_recommend]
impl<T: Default> OptionalInput for T {
    fn nothing() -> Self {
        Self::default()
    }
}
