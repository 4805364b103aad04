//! Checks that generated code depends on nothing in the deriving crate: no prelude, no names, no dependencies.
//!
//! The crate only has to compile.
#![no_implicit_prelude]
#![deny(warnings, clippy::all)]
#![expect(non_camel_case_types, missing_docs, reason = "the names shadow those of the language")]

pub mod everything;
pub mod in_a_macro;
pub mod machines;
pub mod routes_and_views;
pub mod shadowed;
