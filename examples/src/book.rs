//! The examples of the book in `docs/` and of the README, which are compiled and run as doc tests.
//!
//! `tests/book.rs` checks that every page with Rust code is listed here.

#[doc = include_str!("../../README.md")]
struct Readme;

#[doc = include_str!("../../docs/introduction.md")]
struct Introduction;

#[doc = include_str!("../../docs/reference/attributes.md")]
struct Attributes;

#[doc = include_str!("../../docs/reference/behaviour.md")]
struct Behaviour;

#[doc = include_str!("../../docs/reference/errors.md")]
struct Errors;

#[doc = include_str!("../../docs/reference/events.md")]
struct Events;

#[doc = include_str!("../../docs/how-to/cancellation.md")]
struct Cancellation;

#[doc = include_str!("../../docs/how-to/retries.md")]
struct Retries;

#[doc = include_str!("../../docs/how-to/timers.md")]
struct Timers;

#[doc = include_str!("../../docs/how-to/subgraphs.md")]
struct Subgraphs;

#[doc = include_str!("../../docs/how-to/workflows.md")]
struct Workflows;

#[doc = include_str!("../../docs/how-to/state-machines.md")]
struct StateMachines;

#[doc = include_str!("../../docs/how-to/diagrams.md")]
struct Diagrams;

#[doc = include_str!("../../docs/how-to/memory.md")]
struct Memory;

#[doc = include_str!("../../docs/how-to/write-a-store.md")]
struct WriteAStore;
