use super::{ReduceError, Reducer, Stamp, Undo};

/// Takes the last write. Several writers in one superstep are not a conflict: they are expected to write the same value.
///
/// ```
/// use superstep::reducers::{AnyValue, Reducer};
///
/// let mut language = "en".to_owned();
/// AnyValue::fold(&mut language, "de".to_owned())?;
/// AnyValue::fold(&mut language, "de".to_owned())?;
/// assert_eq!(language, "de");
/// # Ok::<(), superstep::reducers::ReduceError>(())
/// ```
#[derive(Debug)]
pub enum AnyValue {}

#[diagnostic::do_not_recommend]
impl<T: Clone + Send + Sync + 'static> Reducer<T> for AnyValue {
    type Update = T;
    type Delta = T;

    const FALLIBLE: bool = false;

    fn prepare(update: T, _: &Stamp<'_>) -> Result<T, ReduceError> {
        Ok(update)
    }

    fn fold(value: &mut T, delta: T) -> Result<(), ReduceError> {
        *value = delta;
        Ok(())
    }

    fn apply(value: &mut T, delta: T) -> Result<Undo<T>, ReduceError> {
        Ok(Undo::Value(std::mem::replace(value, delta)))
    }
}
