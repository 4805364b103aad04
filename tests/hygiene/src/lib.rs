//! Generated code leans on nothing of the crate that derives: no prelude, no name, no dependency.
//!
//! It is enough that this compiles.
#![no_implicit_prelude]
#![deny(warnings, clippy::all)]
#![expect(non_camel_case_types, missing_docs, reason = "names that shadow those of the language")]

pub mod everything;
pub mod in_a_macro;
pub mod machines;
pub mod routes_and_views;
pub mod shadowed;
