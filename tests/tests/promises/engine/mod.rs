//! What a run does, and what it does not do.

mod deferred;
mod finishing_order;
mod joins;
mod routing;
mod supersteps;
mod trace;
