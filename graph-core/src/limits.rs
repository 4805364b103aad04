//! The limits of stored data. They are the same for every store.
//!
//! Everything within the limits can be stored and read back. Everything else is refused before it is stored, with an error
//! that names the value and the limit.

pub use superstep_store::limits::*;
