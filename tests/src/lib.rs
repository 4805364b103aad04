//! What several test programs share.

pub mod endpoint;
pub mod spans;
