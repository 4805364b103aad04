use serde::Serialize;
use serde::de::DeserializeOwned;

/// A value that can be stored: a question, an answer, the result of a durable step, an item of the long-term store.
///
/// Every type that implements `Serialize` and `DeserializeOwned` is storable.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be stored",
    label = "a store cannot hold `{Self}`",
    note = "derive `serde::Serialize` and `serde::Deserialize` for `{Self}`"
)]
pub trait Storable: Serialize + DeserializeOwned {}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned> Storable for T {}
