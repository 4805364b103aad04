//! The listener and its connections.

mod connection;
mod exchange;
mod routes;
mod socket;

#[cfg(test)]
mod tests;

use std::pin::pin;
use std::time::Duration;

use axum::serve::Listener;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::{ServerError, Started};

/// The time that runs and responses have when the server stops.
const GRACE: Duration = Duration::from_secs(10);

/// The time for which a client may leave what it is sent unread. Then it is taken for gone.
pub(crate) const WRITE_TIMEOUT: Duration = Duration::from_secs(60);

impl Started {
    /// Serves requests until `stop` completes. Then the server accepts no more connections, stops its runs after their current
    /// superstep, and sends the responses that are under way. The next server on the same stores continues the runs.
    ///
    /// After ten seconds, whatever is left is cut off. Nothing that runs have stored is lost.
    ///
    /// A client that reads nothing of a response for a minute is disconnected.
    ///
    /// # Errors
    /// [`Listen`](ServerError::Listen) if the listener fails.
    ///
    /// # Cancel safety
    /// A dropped call stops listening and cuts off the connections. The runs continue.
    pub async fn serve(
        &self,
        mut listener: TcpListener,
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> Result<(), ServerError> {
        let (stopping, stopped) = watch::channel(false);
        let router = self.router();
        let mut connections = JoinSet::new();
        let mut stop = pin!(stop);
        loop {
            tokio::select! {
                () = &mut stop => break,
                // It waits while the process has too many open files.
                (stream, peer) = Listener::accept(&mut listener) => {
                    // An event is a small packet, which must not wait for the next one. A socket that cannot be set up still works.
                    drop(stream.set_nodelay(true));
                    connections.spawn(connection::serve(stream, peer, router.clone(), stopped.clone()));
                }
                Some(_) = connections.join_next() => {}
            }
        }
        drop(listener);
        stopping.send_replace(true);
        self.shutdown(GRACE).await;
        let rest = async { while connections.join_next().await.is_some() {} };
        // Those that are left are cut off when the set is dropped.
        let _late = tokio::time::timeout(GRACE, rest).await;
        Ok(())
    }
}
