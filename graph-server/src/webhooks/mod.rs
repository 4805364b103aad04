//! Webhooks: the result of a run is sent to an address that its client gives.
//!
//! A result to send is stored in the write that stores the end of the run, and removed when the address has accepted it. So it is sent
//! at least once, also over a restart.

mod address;
mod calls;
mod deliver;
mod places;
mod sender;
mod sender_task;
mod tls;
mod waiting;

#[cfg(test)]
mod tests;

pub(crate) use address::check;
pub(crate) use sender::Sender;
pub(crate) use sender_task::start;
