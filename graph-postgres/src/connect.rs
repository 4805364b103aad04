//! Connections: TLS as the URL asks for it.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use deadpool_postgres::Connect;
use tokio::task::JoinHandle;
use tokio_postgres::config::SslMode;
use tokio_postgres::tls::{MakeTlsConnect, TlsConnect};
use tokio_postgres::{Client, Config, Error, NoTls, Socket};

use crate::error::Failure;
use crate::options::PostgresOptions;

type Connecting<'a> = Pin<Box<dyn Future<Output = Result<(Client, JoinHandle<()>), Error>> + Send + 'a>>;

/// Connects to the server. The connection is driven by the runtime of the store.
pub(crate) struct Connector {
    /// The time that a server has to accept the connection, if there is another one.
    timeout: Duration,
    #[cfg(feature = "rustls")]
    tls: tokio_postgres_rustls::MakeRustlsConnect,
}

impl Connector {
    /// Refuses a URL that asks for TLS if this program has none.
    #[cfg(not(feature = "rustls"))]
    pub(crate) fn new(config: &Config, options: &PostgresOptions) -> Result<Self, Failure> {
        match config.get_ssl_mode() {
            SslMode::Disable | SslMode::Prefer => Ok(Self { timeout: options.connect_timeout }),
            _ => Err(Failure::backend(
                "the URL asks for TLS, but this program is built without it: enable the feature `rustls` of \
                 superstep-postgres",
            )),
        }
    }

    #[cfg(feature = "rustls")]
    pub(crate) fn new(config: &Config, options: &PostgresOptions) -> Result<Self, Failure> {
        Ok(Self { timeout: options.connect_timeout, tls: crate::tls::connector(config, options)? })
    }
}

impl Connect for Connector {
    fn connect(&self, config: &Config) -> Connecting<'_> {
        let mut servers = crate::hosts::each(config);
        Box::pin(async move {
            let last = servers.pop();
            for server in servers {
                if let Ok(Ok(opened)) = tokio::time::timeout(self.timeout, self.open(server)).await {
                    return Ok(opened);
                }
            }
            // The pool limits the time of all.
            self.open(last.unwrap_or_default()).await
        })
    }
}

impl Connector {
    /// Connects to one server.
    fn open(&self, config: Config) -> Connecting<'_> {
        #[cfg(feature = "rustls")]
        if config.get_ssl_mode() != SslMode::Disable {
            let tls = self.tls.clone();
            return Box::pin(async move {
                match open(&config, tls).await {
                    // As in other clients: `prefer` promises nothing, so it accepts a server that cannot be verified.
                    Err(error) if config.get_ssl_mode() == SslMode::Prefer && is_tls(&error) => {
                        let mut plain = config;
                        open(plain.ssl_mode(SslMode::Disable), NoTls).await
                    }
                    opened => opened,
                }
            });
        }
        Box::pin(async move { open(&config, NoTls).await })
    }
}

async fn open<T>(config: &Config, tls: T) -> Result<(Client, JoinHandle<()>), Error>
where
    T: MakeTlsConnect<Socket>,
    T::Stream: Send + 'static,
    T::TlsConnect: Send,
    <T::TlsConnect as TlsConnect<Socket>>::Future: Send,
{
    let (client, connection) = config.connect(tls).await?;
    let driver = tokio::spawn(async move {
        // A failure of the connection is reported by the calls that use it.
        drop(connection.await);
    });
    Ok((client, driver))
}

/// Returns `true` if the server does not speak TLS as this program demands it.
#[cfg(feature = "rustls")]
fn is_tls(error: &Error) -> bool {
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        if cause.is::<rustls::Error>() {
            return true;
        }
        let inner = cause.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        if inner.is_some_and(|inner| inner.is::<rustls::Error>()) {
            return true;
        }
        source = cause.source();
    }
    false
}
