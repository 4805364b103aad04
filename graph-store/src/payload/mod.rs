//! Payloads: stored values, and the strict JSON that they are written in.
//!
//! [`to_payload`] writes a value, and [`from_payload`] reads it back. `to_payload` refuses a value that JSON would not
//! read back unchanged:
//!
//! - NaN and infinite numbers;
//! - maps with composite keys;
//! - `Some(None)`;
//! - arrays and objects nested more than 127 deep;
//! - values of more than 256 MiB (see [`limits`](crate::limits)).
//!
//! ```
//! use superstep::payload::{from_payload, to_payload};
//!
//! let stored = to_payload(&vec![1.5, 2.5])?;
//! assert_eq!(from_payload::<Vec<f64>>(&stored)?, [1.5, 2.5]);
//!
//! let error = to_payload(&vec![1.5, f64::NAN]).unwrap_err();
//! assert!(error.to_string().starts_with("cannot be stored, because of the value at `$[1]`"), "{error}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod convert;
mod error;
mod overflow;
mod path;
#[expect(clippy::module_inception, reason = "a public type is in the file of its name")]
mod payload;
mod read;
mod storable;
mod strict;
mod write;

pub use convert::{from_json, from_json_text, from_payload, to_json, to_payload};
pub use error::{Unreadable, Unstorable};
pub use overflow::{any_may_overflow, may_overflow_value};
pub use path::push_key;
pub use payload::{Encoding, Payload};
pub use read::{PayloadDeserializer, read_payload};
pub use storable::Storable;
pub use strict::Strict;
pub use write::{PayloadSerializer, write_payload};
