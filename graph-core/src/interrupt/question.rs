use crate::node::own_name;

use crate::payload::Storable;

/// The typed payload of an interrupt, and the type of its answer.
///
/// A node asks a question with [`Context::interrupt`](crate::Context::interrupt).
///
/// ```
/// use superstep::interrupt::Question;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize)]
/// struct Approve {
///     order: String,
///     price: u32,
/// }
///
/// impl Question for Approve {
///     type Answer = bool;
/// }
///
/// assert_eq!(Approve::name(), "Approve");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a question",
    label = "does not implement `Question`, so the type of its answer is unknown",
    note = "write `impl Question for {Self} {{ type Answer = bool; }}`, with the type of the answer"
)]
pub trait Question: Storable + Send + Sync + 'static {
    /// The type of the answer.
    type Answer: Storable + Send + Sync + 'static;

    /// Returns the name of the question. It is unique in its graph, and part of the question's id.
    ///
    /// The default is the name of the type. Implement this method if the type may be renamed while questions are open, because
    /// answers find their question by its id.
    fn name() -> &'static str {
        own_name::<Self>()
    }
}
