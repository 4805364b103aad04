//! The code that is compiled for each state: the traits of this folder for a derived state.

use std::any::{Any, TypeId};
use std::sync::Arc;

use serde::{Deserialize as _, Serialize, Serializer};
use serde_json::Value;

use crate::payload::{Encoding, Payload};
use crate::reducers::{ReduceError, Stamp};
use crate::state::{
    Decoded, EncodeError, FieldSpec, FieldWrite as _, Form, GraphState, Input as _, Report, Restore,
    RestoreError, Start, UndoOf, Update, Violation, WriteKind, Writes, decode_write, serialize_writes,
};

use super::input::{ErasedInput, ErasedStart};
use super::state::ErasedState;
use super::state_type::{StateType, StateTypeOf};
use super::writes::{ErasedUndos, ErasedWrites, TaskWrites};

type WriteOf<S> = <<S as GraphState>::Update as Update<S>>::Write;

impl<S: GraphState> StateTypeOf for S {
    const TYPE: &'static StateType = &StateType {
        id: TypeId::of::<S>(),
        name: S::NAME,
        fields: S::FIELD_COUNT,
        fallible: S::FALLIBLE,
        field: S::field,
        versions: S::__versions,
        migrate: S::__migrate,
        restore: restore::<S>,
        writes: || Box::new(WritesOf::<S>(Writes::default())),
        undos: || Box::new(UndosOf::<S>(Vec::new())),
        decode: decode::<S>,
    };
}

fn restore<S: GraphState>(stored: &mut Restore) -> Result<Arc<dyn ErasedState>, RestoreError> {
    S::__restore(stored).map(|state| Arc::new(state) as _)
}

fn decode<S: GraphState>(
    field: &str,
    form: Form,
    payload: &Payload,
    into: &mut dyn ErasedWrites,
) -> Decoded<usize> {
    match decode_write::<S>(field, form, payload) {
        Decoded::Write(write) => {
            let field = write.field();
            if let Some(WritesOf::<S>(writes)) = (into as &mut dyn Any).downcast_mut() {
                writes.push(write);
            }
            Decoded::Write(field)
        }
        Decoded::Unknown => Decoded::Unknown,
        Decoded::Invalid(error) => Decoded::Invalid(error),
    }
}

impl<S: GraphState> ErasedState for S {
    fn state_type(&self) -> &'static StateType {
        S::TYPE
    }

    fn copied(&self) -> Arc<dyn ErasedState> {
        Arc::new(self.__duplicate())
    }

    fn check_field(&self, field: usize, report: &mut Report) {
        self.validate_field(field, report);
    }

    fn check_state(&self) -> Result<(), Violation> {
        self.check_invariant()
    }

    fn clear_field(&mut self, field: usize, undos: &mut dyn ErasedUndos) {
        if let (Some(undo), Some(UndosOf::<S>(undos))) =
            (self.clear_ephemeral(field), (undos as &mut dyn Any).downcast_mut())
        {
            undos.push(undo);
        }
    }

    fn rebuild(&mut self, context: &dyn Any) -> Result<(), &'static FieldSpec> {
        self.rebuild_untracked(context)
    }

    fn encode(&self, field: usize, into: &mut Vec<u8>) -> Result<Option<Encoding>, EncodeError> {
        self.__encode_field(field, into)
    }

    fn to_json(&self) -> Result<Value, serde_json::Error> {
        json_of(&self.dump())
    }
}

/// Returns a shared state with its type; `None` if it has another type.
pub(crate) fn shared<S: GraphState>(state: Arc<dyn ErasedState>) -> Option<Arc<S>> {
    (state as Arc<dyn Any + Send + Sync>).downcast().ok()
}

/// Returns a state with its type, as a copy if it is shared.
///
/// # Errors
/// It has another type. The types of a graph's builder prevent it.
pub(crate) fn owned<S: GraphState>(state: Arc<dyn ErasedState>) -> Result<S, OtherState> {
    let state = shared::<S>(state).ok_or(OtherState)?;
    Ok(Arc::try_unwrap(state).unwrap_or_else(|state| state.__duplicate()))
}

/// Returns a borrowed state with its type; `None` if it has another type.
pub(crate) fn borrowed<S: GraphState>(state: &dyn ErasedState) -> Option<&S> {
    (state as &dyn Any).downcast_ref()
}

/// The error of a state that is of another type. The types of a graph's builder prevent it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OtherState;

/// Converts a value to JSON.
///
/// By way of its text, which keeps the digits of floating-point numbers.
pub(crate) fn json_of<T: Serialize>(value: &T) -> Result<Value, serde_json::Error> {
    let text = serde_json::to_vec(value)?;
    parse_json(&text)
}

/// Reads JSON of any depth: its value was serialized recursively just before.
fn parse_json(text: &[u8]) -> Result<Value, serde_json::Error> {
    let mut json = serde_json::Deserializer::from_slice(text);
    json.disable_recursion_limit();
    Value::deserialize(&mut json)
}

/// The input of a run over `S`.
pub(crate) struct InputOf<S: GraphState>(pub(crate) S::Input);

impl<S: GraphState> ErasedInput for InputOf<S> {
    fn state_type(&self) -> &'static StateType {
        S::TYPE
    }

    fn copied(&self) -> Box<dyn ErasedInput> {
        Box::new(Self(self.0.clone()))
    }

    fn into_start(self: Box<Self>) -> ErasedStart {
        let Start { state, update, given } = self.0.into_start();
        ErasedStart { state: Arc::new(state), writes: WritesOf::<S>::erase(update), given }
    }

    fn into_update(self: Box<Self>) -> TaskWrites {
        WritesOf::<S>::erase(self.0.into_update())
    }
}

/// The writes of an update of `S`.
pub(crate) struct WritesOf<S: GraphState>(Writes<WriteOf<S>>);

impl<S: GraphState> WritesOf<S> {
    /// Erases the type of an update.
    pub(crate) fn erase(update: S::Update) -> TaskWrites {
        let writes = update.__into_writes();
        if writes.is_empty() { TaskWrites::default() } else { TaskWrites::new(Box::new(Self(writes))) }
    }

    /// Runs the first phase of the reducers with `stamp`, if it is given, and erases the type of the update, in the
    /// memory of earlier writes.
    ///
    /// # Errors
    /// The field whose reducer refused a write, with its error.
    #[inline]
    pub(crate) fn erase_into(
        update: S::Update,
        mut spare: TaskWrites,
        stamp: Option<Stamp<'_>>,
    ) -> Result<TaskWrites, (usize, ReduceError)> {
        let mut writes = update.__into_writes();
        if let Some(stamp) = stamp {
            prepare::<S>(&mut writes, stamp)?;
        }
        let earlier =
            spare.as_erased_mut().and_then(|writes| (writes as &mut dyn Any).downcast_mut::<Self>());
        Ok(match earlier {
            Some(earlier) => {
                earlier.0 = writes;
                spare
            }
            None if writes.is_empty() => TaskWrites::default(),
            None => TaskWrites::new(Box::new(Self(writes))),
        })
    }

    /// Returns an update with the writes.
    pub(crate) fn typed(writes: TaskWrites) -> S::Update {
        let writes = writes.into_erased().and_then(|writes| (writes as Box<dyn Any>).downcast::<Self>().ok());
        S::Update::__from_writes(writes.map(|writes| writes.0).unwrap_or_default())
    }
}

impl<S: GraphState> ErasedWrites for WritesOf<S> {
    fn state_type(&self) -> &'static StateType {
        S::TYPE
    }

    fn count(&self) -> usize {
        self.0.len()
    }

    fn target(&self, nth: usize) -> Option<(usize, WriteKind)> {
        self.0.get(nth).map(|write| (write.field(), write.kind()))
    }

    fn copied(&self) -> Box<dyn ErasedWrites> {
        Box::new(Self(self.0.clone()))
    }

    fn prepare(&mut self, stamp: Stamp<'_>) -> Result<(), (usize, ReduceError)> {
        prepare::<S>(&mut self.0, stamp)
    }

    fn encode(&self, nth: usize, into: &mut Vec<u8>) -> Result<Option<(Form, Encoding)>, EncodeError> {
        self.0.get(nth).map_or(Ok(None), |write| write.__encode(into))
    }

    fn fold(
        &mut self,
        state: &mut dyn ErasedState,
        counts: &dyn Fn(usize, WriteKind) -> bool,
        undos: &mut dyn ErasedUndos,
    ) -> Result<(), (usize, ReduceError)> {
        let (Some(state), Some(UndosOf::<S>(undos))) =
            ((state as &mut dyn Any).downcast_mut::<S>(), (undos as &mut dyn Any).downcast_mut())
        else {
            return Err((usize::MAX, other_state()));
        };
        self.0.try_take_each(|write| {
            let field = write.field();
            if counts(field, write.kind()) {
                match write.apply(state) {
                    Ok(undo) => undos.push(undo),
                    Err(error) => return Err((field, error)),
                }
            }
            Ok(())
        })
    }

    fn fold_alone(
        &mut self,
        state: &mut dyn ErasedState,
        undos: &mut dyn ErasedUndos,
        touched: &mut Vec<usize>,
    ) -> Result<bool, (usize, ReduceError)> {
        let Some(state) = (state as &mut dyn Any).downcast_mut::<S>() else {
            return Err((usize::MAX, other_state()));
        };
        let Some(write) = self.0.take_only() else { return Ok(self.0.is_empty()) };
        let field = write.field();
        let undo = write.apply(state).map_err(|error| (field, error))?;
        if S::FALLIBLE {
            if let Some(UndosOf::<S>(undos)) = (undos as &mut dyn Any).downcast_mut() {
                undos.push(undo);
            }
            touched.push(field);
        }
        Ok(true)
    }

    fn to_json(&self) -> Result<Value, serde_json::Error> {
        let update = S::Update::__from_writes(self.0.clone());
        json_of(&UpdateJson::<S>(&update))
    }

    fn push_from(&mut self, other: &dyn ErasedWrites, nth: usize) {
        let other = (other as &dyn Any).downcast_ref::<Self>();
        if let Some(write) = other.and_then(|other| other.0.get(nth)) {
            self.0.push(write.clone());
        }
    }
}

/// Runs the first phase of the reducers.
///
/// # Errors
/// The field whose reducer refused a write, with its error.
#[inline]
fn prepare<S: GraphState>(
    writes: &mut Writes<WriteOf<S>>,
    mut stamp: Stamp<'_>,
) -> Result<(), (usize, ReduceError)> {
    writes.try_map(|write| {
        let field = write.field();
        let prepared = write.prepare(&stamp);
        stamp.write += 1;
        prepared.map_err(|error| (field, error))
    })
}

/// The writes of an update in JSON: always an array of objects.
pub(crate) struct UpdateJson<'u, S: GraphState>(pub(crate) &'u S::Update);

impl<S: GraphState> Serialize for UpdateJson<'_, S> {
    fn serialize<Ser: Serializer>(&self, serializer: Ser) -> Result<Ser::Ok, Ser::Error> {
        serialize_writes::<S, Ser>(self.0, serializer)
    }
}

/// The values that take writes to a state of type `S` back.
struct UndosOf<S: GraphState>(Vec<UndoOf<S>>);

impl<S: GraphState> ErasedUndos for UndosOf<S> {
    fn roll_back(&mut self, state: &mut dyn ErasedState) {
        let Some(state) = (state as &mut dyn Any).downcast_mut::<S>() else { return };
        while let Some(undo) = self.0.pop() {
            WriteOf::<S>::undo(undo, state);
        }
    }

    fn forget(&mut self) {
        self.0.clear();
    }
}

/// The error of a write to a state of another type. The types of a graph's nodes prevent it.
#[cold]
fn other_state() -> ReduceError {
    ReduceError::new("internal error: the update is of another state type; please report this")
}
