//! Graphs as nodes of others: what is handed on, stored, asked and told across their border.
#![expect(
    clippy::unwrap_used,
    reason = "the functions that tests share fail a test as the tests themselves do"
)]

mod asked;
mod evolved;
mod handed_on;
mod hunted;
mod mapped;
mod messages;
mod pictured;
mod said;
mod slept;
mod stored;
mod streamed;
mod tried;
mod written;

use tests::{stores, story};
