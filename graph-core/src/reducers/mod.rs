//! Reducers, which fold writes into fields.
//!
//! | in `#[state(reducer = ..)]` | type | field types | the setter takes |
//! |---|---|---|---|
//! | (none) | [`Replace`] | any type; two writers in one superstep are a conflict | the value |
//! | `append` | [`Append`] | `Vec`, `VecDeque`, `String` | items, or a string |
//! | `add` | [`Add`] | numbers, `Duration` | a summand |
//! | `merge` | [`Merge`] | `HashMap`, `BTreeMap`, `serde_json::Map` | entries |
//! | `union` | [`Union`] | `HashSet`, `BTreeSet`, `Vec`, `VecDeque` | items |
//! | `min`, `max` | [`Min`], [`Max`] | types that can be compared | the value |
//! | `add_messages` | [`AddMessages`](crate::messages::AddMessages) | `Vec<Message>` | messages, strings, removals |
//! | `any_value` | [`AnyValue`] | any type; the last writer wins | the value |
//!
//! For `append`, `merge`, `union` and `add_messages`, checkpoints store the deltas. For the others they store the field's
//! new value ([`Reducer::STORED`]).
//!
//! A reducer also folds an `Option` of its field type, through [`Optional`]. Anything else in the attribute is a type that
//! implements [`Reducer`], or a function `fn(&mut T, U)` that returns `()` or `Result<(), E>`.

mod add;
mod any_value;
mod append;
mod begin;
mod error;
mod function;
mod guarded;
#[cfg(test)]
mod laws;
mod max;
mod merge;
mod min;
mod optional;
mod order;
mod reducer;
mod replace;
mod stamp;
mod stored_as;
mod takes_one;
mod undo;
mod union;

pub use add::Add;
pub use any_value::AnyValue;
pub use append::Append;
pub use begin::Begin;
use begin::begins_at_default;
pub use error::ReduceError;
#[doc(hidden)]
pub use function::FoldOutcome;
pub(crate) use guarded::guarded;
pub use max::Max;
pub use merge::Merge;
pub use min::Min;
pub use optional::Optional;
pub use reducer::Reducer;
pub use replace::Replace;
pub use stamp::Stamp;
pub use stored_as::StoredAs;
use takes_one::takes_one;
pub use undo::Undo;
pub use union::Union;
