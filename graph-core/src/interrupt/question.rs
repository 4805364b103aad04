use crate::node::own_name;

use crate::payload::Storable;

/// Something that a node asks of a person, and what the answer is.
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
    label = "cannot be asked: nothing says what the answer is",
    note = "write `impl Question for {Self} {{ type Answer = bool; }}`, with whatever the answer is"
)]
pub trait Question: Storable + Send + Sync + 'static {
    /// What is answered.
    type Answer: Storable + Send + Sync + 'static;

    /// The question's name among those of its graph: a part of its id, by which answers find it. The type's own name,
    /// unless it is said otherwise; say it where the type may be renamed while questions are open.
    fn name() -> &'static str {
        own_name::<Self>()
    }
}
