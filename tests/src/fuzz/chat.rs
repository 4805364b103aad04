//! Replies of a chat server, read by `OpenAiModel`.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a target panics if a promise is broken"
)]

mod exchange;
mod invariants;
mod round_trip;
mod streamed;
mod whole;

pub(super) use round_trip::{run as round_trip, seeds as round_trip_seeds};
pub(super) use streamed::{run as streamed, seeds as streamed_seeds};
pub(super) use whole::{run as whole, seeds as whole_seeds};
