use std::sync::Arc;

use crate::auth::{AnyAuthenticate, ApiKey};
use crate::limits::{RateLimit, StreamLimit};

/// The options of a server.
pub(crate) struct Options {
    /// The key that requests must have.
    pub(crate) api_key: Option<ApiKey>,
    /// Recognizes the callers.
    pub(crate) authenticate: Option<Arc<dyn AnyAuthenticate>>,
    /// The maximum size of the body of a request, in bytes.
    pub(crate) body_limit: usize,
    /// The rate of the requests of a caller.
    pub(crate) rate_limit: Option<RateLimit>,
    /// The number of open streams.
    pub(crate) stream_limit: StreamLimit,
    /// `true` to send results to private addresses too.
    #[cfg(feature = "webhooks")]
    pub(crate) private_webhooks: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            api_key: None,
            authenticate: None,
            body_limit: 16 << 20,
            rate_limit: None,
            stream_limit: StreamLimit::default(),
            #[cfg(feature = "webhooks")]
            private_webhooks: false,
        }
    }
}
