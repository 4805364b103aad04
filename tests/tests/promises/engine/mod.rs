//! What a run does, and what it does not do.

mod back_pressure;
mod cancellation;
mod deferred;
mod ephemeral;
mod finishing_order;
mod joins;
mod routing;
mod streams;
mod supersteps;
mod trace;
mod unobserved;
