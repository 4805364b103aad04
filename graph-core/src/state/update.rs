use serde::ser::SerializeMap;
use serde_json::Value;

use crate::payload::{Encoding, Payload};
use crate::reducers::{ReduceError, Stamp};

use super::{
    Decoded, EncodeError, Field, Form, GraphState, InputError, InputProblem, Writes, WrittenFields,
    read_update,
};

/// The rule by which a write combines with other writes to its field in one superstep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteKind {
    /// The field has no reducer: a second task that writes it is a conflict.
    Exclusive,
    /// The reducer folds the write into the value, in application order.
    Folded,
    /// Replaces the value and drops the field's other writes. A second overwrite is a conflict.
    Overwrite,
}

/// One write to one field; the derive generates an enum with a variant for each field.
pub trait FieldWrite<S>: Clone + Send + Sync + 'static {
    /// The value that takes the write back.
    type Undo: Send + 'static;

    /// Returns the index of the written field.
    fn field(&self) -> usize;

    /// Returns how this write combines with others.
    fn kind(&self) -> WriteKind;

    /// Runs the reducer's first phase.
    ///
    /// # Errors
    /// The error of [`Reducer::prepare`](crate::reducers::Reducer::prepare).
    fn prepare(self, stamp: &Stamp<'_>) -> Result<Self, ReduceError>;

    /// Applies the write to `state`. If it fails, `state` is unchanged.
    ///
    /// # Errors
    /// The error of the reducer.
    fn apply(self, state: &mut S) -> Result<Self::Undo, ReduceError>;

    /// Takes a write back. The caller takes writes back in the reverse of the order in which it applied them.
    fn undo(undo: Self::Undo, state: &mut S);

    /// Returns `true` if dumps and events show the field.
    #[doc(hidden)]
    fn __is_dumped(&self) -> bool;

    /// Writes `name: value` into `map`, by the dump rules.
    #[doc(hidden)]
    fn __dump<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error>;

    /// Reads a write to the field `key` (its name or an alias).
    #[doc(hidden)]
    fn __parse(key: &str, value: Value, of: JsonOf) -> Parsed<Self>;

    /// Appends the stored form of the write to `into`, and returns its form. Writes nothing for an untracked field.
    #[doc(hidden)]
    fn __encode(&self, into: &mut Vec<u8>) -> Result<Option<(Form, Encoding)>, EncodeError>;

    /// Reads a stored write to the field `key` (its name or an alias).
    #[doc(hidden)]
    fn __decode(key: &str, form: Form, payload: &Payload) -> Decoded<Self>;

    /// Returns the written value, for typed reading.
    #[doc(hidden)]
    fn __value(&self) -> &dyn std::any::Any;
}

/// The kind of JSON from which a write is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonOf {
    /// The input of a run.
    Input,
    /// An update.
    Update,
    /// The `$overwrite` part of an update.
    Overwrite,
}

/// The result of reading one key of a JSON update or input.
#[derive(Debug)]
pub enum Parsed<W> {
    /// A write.
    Write(W),
    /// No field has this name; the value is returned.
    Unknown(Value),
    /// The field exists, but its value cannot be read.
    Invalid(InputProblem),
}

impl<W> Parsed<W> {
    /// Converts the write of a flattened state into the write of its owner.
    // Not `impl Fn`, which would be compiled for each field.
    pub fn map<V>(self, lift: fn(W) -> V) -> Parsed<V> {
        match self {
            Self::Write(write) => Parsed::Write(lift(write)),
            Self::Unknown(value) => Parsed::Unknown(value),
            Self::Invalid(problem) => Parsed::Invalid(problem),
        }
    }
}

/// The partial update of a state. The derive implements it and generates a setter for each field.
///
/// The methods here inspect an update, for example in the test of a node:
///
/// ```
/// use superstep::GraphState;
/// use superstep::state::Update;
///
/// #[derive(GraphState, Clone)]
/// struct Ticket {
///     #[state(reducer = append)]
///     notes: Vec<String>,
///     answer: Option<String>,
/// }
///
/// let update = Ticket::update().notes(["read it".to_owned()]).answer("yes");
/// assert_eq!(update.get(Ticket::ANSWER), Some(&Some("yes".to_owned())));
/// assert_eq!(update.get(Ticket::NOTES), Some(&vec!["read it".to_owned()]));
/// assert_eq!(update.field_names().collect::<Vec<_>>(), ["notes", "answer"]);
///
/// let same = TicketUpdate::from_json(serde_json::to_value(&update)?)?;
/// assert_eq!(same.get(Ticket::ANSWER), update.get(Ticket::ANSWER));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Update<S>: Default + Clone + std::fmt::Debug + serde::Serialize + Send + Sync + 'static {
    /// The derive's enum of field writes.
    type Write: FieldWrite<S>;

    #[doc(hidden)]
    fn __from_writes(writes: Writes<Self::Write>) -> Self;

    #[doc(hidden)]
    fn __into_writes(self) -> Writes<Self::Write>;

    #[doc(hidden)]
    fn __writes(&self) -> &Writes<Self::Write>;

    #[doc(hidden)]
    fn __writes_mut(&mut self) -> &mut Writes<Self::Write>;

    /// Appends the writes of another update.
    ///
    /// ```
    /// use superstep::GraphState;
    /// use superstep::state::Update;
    ///
    /// #[derive(GraphState, Clone)]
    /// struct Log {
    ///     #[state(reducer = append)]
    ///     lines: Vec<String>,
    /// }
    ///
    /// let line = |text: &str| Log::update().lines([text.to_owned()]);
    /// let log = Log::started(Log::input())?.updated(line("a").and(line("b")))?;
    /// assert_eq!(log.lines, ["a", "b"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn and(self, other: Self) -> Self {
        let mut writes = self.__into_writes();
        for write in other.__into_writes() {
            writes.push(write);
        }
        Self::__from_writes(writes)
    }

    /// Returns the last value written to `field`. Returns `None` if the update does not write the field, or if the value
    /// is not of the field's type: a custom reducer may take another one (see [`values`](Self::values)).
    fn get<T: 'static>(&self, field: Field<S, T>) -> Option<&T> {
        let last = self.__writes().iter().filter(|write| write.field() == field.index()).last()?;
        last.__value().downcast_ref()
    }

    /// Returns all values of type `V` that are written to `field`, in order.
    fn values<V: 'static>(&self, field: Field<S, impl Sized>) -> impl Iterator<Item = &V> {
        let index = field.index();
        let writes = self.__writes().iter().filter(move |write| write.field() == index);
        writes.filter_map(|write| write.__value().downcast_ref())
    }

    /// Returns `true` if the update writes `field`.
    fn writes<T>(&self, field: Field<S, T>) -> bool {
        self.__writes().iter().any(|write| write.field() == field.index())
    }

    /// Returns `true` if the update writes no field.
    fn is_empty(&self) -> bool {
        self.__writes().is_empty()
    }

    /// Returns the names of the written fields, each once, in the order of their first writes.
    fn field_names(&self) -> impl Iterator<Item = &'static str>
    where
        S: GraphState,
    {
        let mut seen = vec![false; S::FIELD_COUNT];
        self.__writes().iter().filter_map(move |write| {
            let index = write.field();
            let first = seen.get_mut(index).is_some_and(|seen| !std::mem::replace(seen, true));
            if first { S::field(index).map(|spec| spec.name) } else { None }
        })
    }

    /// Reads an update from JSON: an object by field with overwrites under `$overwrite`, or an array of such objects, which
    /// apply one after the other. Serializing an update produces this form.
    ///
    /// # Errors
    /// *All* unknown and ill-typed fields, each with its path.
    fn from_json(value: Value) -> Result<Self, InputError>
    where
        S: GraphState<Update = Self>,
    {
        read_update::<S>(value)
    }
}

/// An update of `S`, or of a state that is flattened into it.
///
/// The update that `#[derive(GraphState)]` generates implements it, and so does a struct with
/// [`#[derive(StateUpdate)]`](derive@crate::StateUpdate).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an update of `{S}`",
    label = "expected an update of `{S}`",
    note = "write `{S}::update()` and the setters of the fields, such as `{S}::update().answer(\"yes\")`"
)]
pub trait IntoUpdate<S: GraphState> {
    /// The fields that it can write.
    #[doc(hidden)]
    const WRITES: WrittenFields = WrittenFields::UNKNOWN;

    /// Converts it into an update of the whole state.
    fn into_update(self) -> S::Update;
}
