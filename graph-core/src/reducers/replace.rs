use super::{ReduceError, Reducer, Stamp, Undo};

/// The reducer of a field without one: the new value replaces the old one. Two writers in one superstep are a conflict.
#[derive(Debug)]
pub enum Replace {}

#[diagnostic::do_not_recommend]
impl<T: Clone + Send + Sync + 'static> Reducer<T> for Replace {
    type Update = T;
    type Delta = T;

    const EXCLUSIVE: bool = true;
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
