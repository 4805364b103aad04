//! Applies the results of a superstep to the state, as a whole or not at all, and asks the route functions.

#[expect(clippy::module_inception, reason = "a type lives in the file of its name")]
mod apply;
mod call_writes;
mod decide;
mod ephemeral;
mod own;
mod rejection;
mod write_set;

pub(crate) use apply::{Rejection, Undos, broken_rules, fold, fold_alone, fold_unchecked};
pub(crate) use call_writes::{CallWrites, followed_by};
pub(crate) use decide::{Unrouted, call_route, call_routes, decider};
pub(crate) use ephemeral::Ephemerals;
pub(crate) use own::{NOT_OWNED, own};
pub(crate) use rejection::rejection;
pub(crate) use write_set::WriteSet;
