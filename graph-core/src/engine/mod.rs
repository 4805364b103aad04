//! Runs graphs.

mod cx;

pub use cx::{Ctx, Cx};
