use super::{ReduceError, Stamp, StoredAs, Undo, guarded};

/// Folds writes into a field of type `T`, in two phases.
///
/// `prepare` runs once for each task and settles whatever is not deterministic; `fold` is pure, runs in application
/// order, and may run again when a thread is replayed.
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
    label = "`{Self}` does not know how to fold this type",
    note = "`append` folds lists and strings, `union` lists and sets, `merge` maps, `add` numbers and durations, \
            `min` and `max` what can be compared, `add_messages` lists of messages, `any_value` everything"
)]
pub trait Reducer<T: Clone>: Sized + 'static {
    /// What a node hands in.
    type Update: Clone + Send + Sync + 'static;
    /// What is folded. A task that has finished is stored with it, whatever [`STORED`](Self::STORED) says of the field.
    type Delta: Clone + Send + Sync + 'static;

    /// Whether two tasks of one superstep that write the field are in conflict.
    const EXCLUSIVE: bool = false;
    /// Whether folding can fail (or panic). The engine keeps what it needs to run the siblings' results again only if so.
    const FALLIBLE: bool = true;
    /// What a checkpoint stores of a write: the field's new value, or the delta. [`Delta`](StoredAs::Delta) is opted into.
    const STORED: StoredAs = StoredAs::Value;

    /// Settles what is not deterministic, such as ids.
    ///
    /// # Errors
    /// The update cannot be used; the task that made it fails.
    fn prepare(update: Self::Update, stamp: &Stamp<'_>) -> Result<Self::Delta, ReduceError>;

    /// The same for a value that overwrites the field.
    ///
    /// # Errors
    /// The value cannot be used; the task that wrote it fails.
    fn prepare_overwrite(value: T, stamp: &Stamp<'_>) -> Result<T, ReduceError> {
        let _ = stamp;
        Ok(value)
    }

    /// Whether the JSON of a run's *input* may say this. What only an update may say is refused here.
    ///
    /// # Errors
    /// An input must not say it.
    fn admit(update: &Self::Update) -> Result<(), ReduceError> {
        let _ = update;
        Ok(())
    }

    /// Folds `delta` into `value`.
    ///
    /// # Errors
    /// The delta does not fit the value; nothing of the superstep is applied.
    fn fold(value: &mut T, delta: Self::Delta) -> Result<(), ReduceError>;

    /// Folds a delta that was read from a checkpoint, as [`fold`](Self::fold) does, and may give back what is left of it: the
    /// next delta of the field is read into its memory.
    ///
    /// The default gives back nothing. A reducer that takes the items out of its delta gives back what they were in.
    ///
    /// # Errors
    /// What [`fold`](Self::fold) says.
    fn fold_stored(value: &mut T, delta: Self::Delta) -> Result<Option<Self::Delta>, ReduceError> {
        Self::fold(value, delta).map(|()| None)
    }

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
