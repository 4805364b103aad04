use serde_json::Value;

use crate::payload::{Storable, Unreadable, Unstorable, from_json, to_json};

use super::schema;

/// A question or an answer, which checkpoints store. Every [`Storable`] type is one.
// `Storable` itself cannot be the bound of `Question`: in an impl of it, rustc reports each missing supertrait of a bound,
// with a list of all types that implement it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be stored in a checkpoint",
    label = "a checkpoint cannot hold `{Self}`",
    note = "derive `serde::Serialize` and `serde::Deserialize` for `{Self}`"
)]
pub trait CheckpointValue: Sized {
    /// Converts the value to JSON.
    ///
    /// # Errors
    /// The value would not be read back unchanged.
    #[doc(hidden)]
    fn __to_json(&self) -> Result<Value, Unstorable>;

    /// Reads a value from JSON.
    ///
    /// # Errors
    /// The JSON is not such a value.
    #[doc(hidden)]
    fn __from_json(json: Value) -> Result<Self, Unreadable>;

    /// Returns the schema of the type, or `None` if every value may fit.
    #[doc(hidden)]
    fn __schema() -> Option<Value>
    where
        Self: 'static;
}

#[diagnostic::do_not_recommend]
impl<T: Storable> CheckpointValue for T {
    fn __to_json(&self) -> Result<Value, Unstorable> {
        to_json(self)
    }

    fn __from_json(json: Value) -> Result<Self, Unreadable> {
        from_json(json)
    }

    fn __schema() -> Option<Value>
    where
        Self: 'static,
    {
        schema::schema_of::<Self>()
    }
}
