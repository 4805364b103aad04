//! What the library promises, through its public interface: a module for each promise.

mod derive_basics;
mod routes;
mod views;
