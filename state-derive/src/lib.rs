//! The derive macros of `graph-core`.
