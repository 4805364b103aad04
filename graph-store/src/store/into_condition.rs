use serde::Serialize;

use super::condition::Tested;
use super::{Condition, FieldPath, StoreError, Test};

/// A condition on a field, as [`filter`](super::Searching::filter) takes it: a value that the field equals, or a
/// comparison ([`ne`](super::ne), [`gt`](super::gt), [`gte`](super::gte), [`lt`](super::lt), [`lte`](super::lte)).
#[diagnostic::on_unimplemented(
    message = "a field cannot be compared with `{Self}`",
    label = "not a value or a comparison",
    note = "pass a value that implements `serde::Serialize`, or a comparison such as `gt(3)`"
)]
pub trait IntoCondition {
    /// Returns the condition for a field.
    ///
    /// # Errors
    /// [`Invalid`](StoreError::Invalid) if a field cannot be compared with the value.
    fn into_condition(self, path: FieldPath) -> Result<Condition, StoreError>;
}

#[diagnostic::do_not_recommend]
impl<T: Serialize> IntoCondition for T {
    fn into_condition(self, path: FieldPath) -> Result<Condition, StoreError> {
        Condition::new(path, Test::Equal, &self)
    }
}

#[diagnostic::do_not_recommend]
impl<T: Serialize> IntoCondition for Tested<T> {
    fn into_condition(self, path: FieldPath) -> Result<Condition, StoreError> {
        Condition::new(path, self.0, &self.1)
    }
}
