use super::{ReduceError, Reducer};

/// A reducer that can create a value from the first write.
pub trait Begin<T: Clone>: Reducer<T> {
    /// Returns the value after the first write.
    ///
    /// # Errors
    /// The delta cannot be used.
    fn begin(delta: Self::Delta) -> Result<T, ReduceError>;
}

/// Lets a reducer create a value by folding the first write into the default value.
macro_rules! begins_at_default {
    ($reducer:ty) => {
        impl<T: Clone + Default> crate::reducers::Begin<T> for $reducer
        where
            $reducer: Reducer<T>,
        {
            fn begin(delta: Self::Delta) -> Result<T, ReduceError> {
                let mut value = T::default();
                Self::apply(&mut value, delta)?;
                Ok(value)
            }
        }
    };
}
pub(super) use begins_at_default;
