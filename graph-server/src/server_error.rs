use std::io;

/// An error of a [`Server`](crate::Server).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    /// Two graphs have one id.
    #[error("two graphs have the id `{0}`: give each graph its own")]
    DuplicateGraph(String),
    /// The address cannot be listened on.
    #[error("cannot listen on {address}")]
    #[non_exhaustive]
    Listen {
        /// The address.
        address: String,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// The store that keeps threads and runs fails.
    #[error("cannot read the runs that an earlier server has left unfinished")]
    Store(#[source] superstep::store::StoreError),
}
