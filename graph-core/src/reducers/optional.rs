use super::{Begin, ReduceError, Reducer, Stamp, StoredAs, Undo};

/// Lets `R` fold a field of type `Option<T>`, in which `None` means that there is no value yet.
///
/// The derive wraps the built-in reducer of an `Option` field in it. Writing `None` changes nothing; only
/// `Overwrite(None)` makes the field `None` again.
///
/// ```
/// use superstep::reducers::{Max, Optional, Reducer};
///
/// let mut best = None;
/// Optional::<Max>::fold(&mut best, Some(-3))?;
/// Optional::<Max>::fold(&mut best, None)?;
/// assert_eq!(best, Some(-3));
/// # Ok::<(), superstep::reducers::ReduceError>(())
/// ```
#[derive(Debug)]
pub struct Optional<R>(std::marker::PhantomData<R>);

#[diagnostic::do_not_recommend]
impl<R: Begin<T>, T: Clone + Send + 'static> Reducer<Option<T>> for Optional<R> {
    type Update = Option<R::Update>;
    type Delta = Option<R::Delta>;

    const EXCLUSIVE: bool = R::EXCLUSIVE;
    const FALLIBLE: bool = R::FALLIBLE;
    const STORED: StoredAs = R::STORED;

    fn of_input(update: Option<R::Update>) -> Result<Option<R::Update>, ReduceError> {
        update.map(R::of_input).transpose()
    }

    fn prepare(update: Option<R::Update>, stamp: &Stamp<'_>) -> Result<Option<R::Delta>, ReduceError> {
        update.map(|update| R::prepare(update, stamp)).transpose()
    }

    fn prepare_overwrite(value: Option<T>, stamp: &Stamp<'_>) -> Result<Option<T>, ReduceError> {
        value.map(|value| R::prepare_overwrite(value, stamp)).transpose()
    }

    fn fold(value: &mut Option<T>, delta: Option<R::Delta>) -> Result<(), ReduceError> {
        match (value, delta) {
            (_, None) => Ok(()),
            (Some(value), Some(delta)) => R::fold(value, delta),
            (empty, Some(delta)) => {
                *empty = Some(R::begin(delta)?);
                Ok(())
            }
        }
    }

    fn apply(value: &mut Option<T>, delta: Option<R::Delta>) -> Result<Undo<Option<T>>, ReduceError> {
        match (value, delta) {
            (_, None) => Ok(Undo::nothing()),
            (Some(value), Some(delta)) => Ok(match R::apply(value, delta)? {
                Undo::Value(before) => Undo::Value(Some(before)),
                undo => Undo::With(Box::new(move |value: &mut Option<T>| {
                    if let Some(value) = value {
                        undo.undo(value);
                    }
                })),
            }),
            (empty, Some(delta)) => {
                *empty = Some(R::begin(delta)?);
                Ok(Undo::Value(None))
            }
        }
    }
}
