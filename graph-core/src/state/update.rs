use serde::ser::SerializeMap;
use serde_json::Value;

use crate::payload::{Encoding, Payload};
use crate::reducers::{ReduceError, Stamp};

use super::{Decoded, EncodeError, Field, Form, GraphState, InputError, InputProblem, Writes, read_update};

/// How a write behaves next to other writes of its field in one superstep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteKind {
    /// No reducer: a second task that writes the field is a conflict.
    Exclusive,
    /// Folded into the value, in application order.
    Folded,
    /// Replaces the value and silences the field's other writes; a second one is a conflict.
    Overwrite,
}

/// One write to one field; the derive makes an enum with a variant for each field.
pub trait FieldWrite<S>: Clone + Send + Sync + 'static {
    /// What takes the write back.
    type Undo: Send + 'static;

    /// The index of the field written.
    fn field(&self) -> usize;

    /// How this write behaves next to others.
    fn kind(&self) -> WriteKind;

    /// Runs the reducer's first phase.
    ///
    /// # Errors
    /// What [`Reducer::prepare`](crate::reducers::Reducer::prepare) says.
    fn prepare(self, stamp: &Stamp<'_>) -> Result<Self, ReduceError>;

    /// Writes into `state`; after an error `state` is what it was.
    ///
    /// # Errors
    /// What the reducer says.
    fn apply(self, state: &mut S) -> Result<Self::Undo, ReduceError>;

    /// Takes a write back. Writes are taken back in the reverse of the order in which they were applied.
    fn undo(undo: Self::Undo, state: &mut S);

    /// Whether the field may leave the process.
    #[doc(hidden)]
    fn __is_dumped(&self) -> bool;

    /// Writes `name: value` into `map`, by the dump rules.
    #[doc(hidden)]
    fn __dump<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error>;

    /// Reads a write to the field called `key` (its name or an alias).
    #[doc(hidden)]
    fn __parse(key: &str, value: Value, of: JsonOf) -> Parsed<Self>;

    /// Writes it behind what is in `into`, as a store keeps it, and says in which form. Nothing, for an untracked field.
    #[doc(hidden)]
    fn __encode(&self, into: &mut Vec<u8>) -> Result<Option<(Form, Encoding)>, EncodeError>;

    /// Reads a stored write to the field called `key` (its name or an alias).
    #[doc(hidden)]
    fn __decode(key: &str, form: Form, payload: &Payload) -> Decoded<Self>;

    /// The written value, for typed reading.
    #[doc(hidden)]
    fn __value(&self) -> &dyn std::any::Any;
}

/// What the JSON is of that a write is read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonOf {
    /// An input: a client's.
    Input,
    /// An update.
    Update,
    /// What an update overwrites.
    Overwrite,
}

/// What came of reading one key of a JSON update or input.
#[derive(Debug)]
pub enum Parsed<W> {
    /// A write.
    Write(W),
    /// No field of that name; the value is handed back.
    Unknown(Value),
    /// The field is there, its value is not readable.
    Invalid(InputProblem),
}

impl<W> Parsed<W> {
    /// Lifts a flattened state's write into that of its owner.
    pub fn map<V>(self, lift: impl FnOnce(W) -> V) -> Parsed<V> {
        match self {
            Self::Write(write) => Parsed::Write(lift(write)),
            Self::Unknown(value) => Parsed::Unknown(value),
            Self::Invalid(problem) => Parsed::Invalid(problem),
        }
    }
}

/// The partial update of a state; implemented by the derive, which also makes a setter for each field.
///
/// The methods here are for looking into an update, say in a node's test:
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

    /// This update and behind it another one, as one.
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

    /// What was written to `field` last; `None` when nothing was, or nothing of the field's own type (a reducer of
    /// your own may take another one: see [`values`](Self::values)).
    fn get<T: 'static>(&self, field: Field<S, T>) -> Option<&T> {
        let last = self.__writes().iter().filter(|write| write.field() == field.index()).last()?;
        last.__value().downcast_ref()
    }

    /// Everything that was written to `field` as a `V`, in order.
    fn values<V: 'static>(&self, field: Field<S, impl Sized>) -> impl Iterator<Item = &V> {
        let index = field.index();
        let writes = self.__writes().iter().filter(move |write| write.field() == index);
        writes.filter_map(|write| write.__value().downcast_ref())
    }

    /// Whether `field` is written.
    fn writes<T>(&self, field: Field<S, T>) -> bool {
        self.__writes().iter().any(|write| write.field() == field.index())
    }

    /// Whether nothing is written.
    fn is_empty(&self) -> bool {
        self.__writes().is_empty()
    }

    /// The names of the fields that are written, each once, in the order of their first writes.
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

    /// Reads an update from JSON: an object by field, overwrites under `$overwrite`; or several such objects in an
    /// array, applied one after the other. It is what serializing an update gives.
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
pub trait IntoUpdate<S: GraphState> {
    /// The update of the whole state.
    fn into_update(self) -> S::Update;
}
