//! Limits for each caller: the rate of its requests, and its open streams.

mod rate_limit;
mod streams;

use std::net::IpAddr;
use std::sync::Arc;

pub(crate) use rate_limit::RateLimit;
pub(crate) use streams::{OpenStream, StreamLimit, Streams};

/// The caller to whom a request is counted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Counted {
    /// An identity.
    Identity(Arc<str>),
    /// The other end of a connection, if callers are not told apart, or were not recognized.
    Peer(Option<IpAddr>),
}
