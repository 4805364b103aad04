use super::{ReduceError, Stamp, StoredAs, Undo, guarded};

/// Folds writes into a field of type `T`, in two phases.
///
/// `prepare` runs once for each task and does everything that is not deterministic. `fold` is pure, runs in application
/// order, and may run again during a replay.
///
/// ```
/// use superstep::GraphState;
/// use superstep::reducers::{ReduceError, Reducer, Stamp};
///
/// /// Keeps the last few lines.
/// enum Tail {}
///
/// impl Reducer<Vec<String>> for Tail {
///     type Update = String;
///     type Delta = String;
///
///     fn prepare(update: String, stamp: &Stamp<'_>) -> Result<String, ReduceError> {
///         Ok(format!("{}: {update}", stamp.node))
///     }
///
///     fn fold(value: &mut Vec<String>, delta: String) -> Result<(), ReduceError> {
///         if value.len() == 3 {
///             value.remove(0);
///         }
///         value.push(delta);
///         Ok(())
///     }
/// }
///
/// #[derive(GraphState, Clone)]
/// struct Log {
///     #[state(reducer = Tail)]
///     lines: Vec<String>,
/// }
///
/// let update = Log::update().lines("hello".to_owned());
/// assert_eq!(format!("{update:?}"), r#"LogUpdate { lines: "hello" }"#);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot fold a field of type `{T}`",
    label = "does not fold this type",
    note = "`append` folds lists and strings, `union` lists and sets, `merge` maps, `add` numbers and durations, \
            `min` and `max` values that can be compared, `add_messages` lists of messages, `any_value` any type"
)]
pub trait Reducer<T: Clone>: Sized + 'static {
    /// The value that a node writes.
    type Update: Clone + Send + Sync + 'static;
    /// The value that is folded. It is stored for a finished task, whatever [`STORED`](Self::STORED) says about the field.
    type Delta: Clone + Send + Sync + 'static;

    /// `true` if two tasks of one superstep that write the field are a conflict.
    const EXCLUSIVE: bool = false;
    /// `true` if folding can fail or panic. Only then does the engine keep the data to apply the siblings' results again.
    const FALLIBLE: bool = true;
    /// The form in which a checkpoint stores a write: the field's new value by default, or the delta.
    const STORED: StoredAs = StoredAs::Value;

    /// Converts an update into a delta, and does everything that is not deterministic, such as
    /// [creating ids](Stamp::unique_id).
    ///
    /// It runs once for each write. The delta is stored, and both the live state and a state that is read back fold the same
    /// delta. A delta must not contain anything that its stored form lacks.
    ///
    /// # Errors
    /// The update cannot be used. The task that made it fails.
    fn prepare(update: Self::Update, stamp: &Stamp<'_>) -> Result<Self::Delta, ReduceError>;

    /// Prepares a value that overwrites the field.
    ///
    /// # Errors
    /// The value cannot be used. The task that wrote it fails.
    fn prepare_overwrite(value: T, stamp: &Stamp<'_>) -> Result<T, ReduceError> {
        let _ = stamp;
        Ok(value)
    }

    /// Restricts an update that the JSON of a run's *input* contains. It may come from a client.
    ///
    /// Refuse or change here everything that only an update may do, such as the removal of a value.
    ///
    /// # Errors
    /// An input must not contain the update.
    fn of_input(update: Self::Update) -> Result<Self::Update, ReduceError> {
        Ok(update)
    }

    /// Folds `delta` into `value`.
    ///
    /// # Errors
    /// The delta does not fit the value. No update of the superstep is applied.
    fn fold(value: &mut T, delta: Self::Delta) -> Result<(), ReduceError>;

    /// Folds a delta from a checkpoint, as [`fold`](Self::fold) does, and may leave the emptied delta in its place. The next
    /// delta of the field is then read into its memory.
    ///
    /// The default takes the delta. A reducer that moves the items out of its delta leaves the empty collection. Does nothing
    /// for `None`.
    ///
    /// # Errors
    /// The error of [`fold`](Self::fold).
    fn fold_stored(value: &mut T, delta: &mut Option<Self::Delta>) -> Result<(), ReduceError> {
        delta.take().map_or(Ok(()), |delta| Self::fold(value, delta))
    }

    /// Folds `delta` into `value`, and returns an [`Undo`] that takes it back.
    ///
    /// The default keeps a copy of the value. Override it if there is a cheaper way back. After an error or a panic,
    /// `value` must be unchanged.
    ///
    /// # Errors
    /// The error of [`fold`](Self::fold), or its panic as an error.
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
