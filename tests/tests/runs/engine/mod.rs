//! What a run does, and what it does not do.

mod back_pressure;
mod cancellation;
mod concurrency;
mod deferred;
mod ephemeral;
mod failures;
mod finishing_order;
mod joins;
mod node_forms;
mod overconfident_reducers;
mod pictures;
mod random_graphs;
mod recursion;
mod routing;
mod rules_before_routes;
mod scale;

mod stopping;
mod streams;
mod supersteps;
mod tokens;
pub(crate) mod trace;
mod unobserved;
mod untracked;
mod wiring;
mod writes;
