//! The engine: supersteps, routing, failures, cancellation and streaming.

mod back_pressure;
mod cancellation;
mod concurrency;
mod deferred;
mod ephemeral;
mod failures;
mod falsely_infallible_reducers;
mod finishing_order;
mod joins;
mod node_forms;
mod pictures;
mod polled_runs;
mod random_graphs;
mod recursion_limit;
mod routing;
mod rules_before_routes;
mod scale;
mod shapes;

mod message_chunks;
mod stopping;
mod streams;
mod supersteps;
pub(crate) mod trace;
mod unobserved_runs;
mod untracked;
mod wiring;
mod workers;
mod writes;
mod written_graphs;
