use serde::Serialize;
use serde::de::DeserializeOwned;

/// A value that a checkpoint can hold: a question, an answer, what a durable step comes to. Whatever serde writes and reads.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be stored",
    label = "a checkpoint cannot hold `{Self}`",
    note = "derive `serde::Serialize` and `serde::Deserialize` for `{Self}`"
)]
pub trait Storable: Serialize + DeserializeOwned {}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned> Storable for T {}
