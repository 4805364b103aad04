//! The server under test.

use std::io::Write as _;
use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use superstep_conformance::block_on;
use superstep_postgres::{PostgresCheckpointer, PostgresOptions};
use superstep_store::checkpoint::CheckpointError;
use tokio_postgres::{Client, NoTls};

use crate::reused::Reused;

/// Returns the URL of the server. Without one, says once that the tests are skipped.
pub(crate) fn url() -> Option<String> {
    static SKIPPED: Once = Once::new();
    let url = std::env::var("PG_URL").ok();
    if url.is_none() {
        SKIPPED.call_once(|| {
            skip(
                "the tests on PostgreSQL need a server. Set PG_URL=postgres://user@host/database, or run them with \
                 .ci/with-postgres",
            );
        });
    }
    url
}

/// Says that a test is skipped, and the reason.
pub(crate) fn skip(reason: &str) {
    // Not a macro: the test harness would capture it.
    let _ = writeln!(std::io::stderr(), "SKIPPED: {reason}");
}

/// Returns `true` if the tests may take long: `LONG=1`.
pub(crate) fn is_long() -> bool {
    std::env::var("LONG").is_ok_and(|long| long == "1")
}

/// Runs a test, if there is a server. The store needs no runtime, so the test has none.
pub(crate) fn run<E>(test: impl Future<Output = Result<(), E>>) -> Result<(), E> {
    if url().is_some() { block_on(test) } else { Ok(()) }
}

/// A schema of its own, dropped at the end, or a reused one.
pub(crate) struct Schema {
    pub(crate) name: String,
    url: String,
    reused: Option<Reused>,
    prepared: bool,
}

impl Schema {
    pub(crate) fn new() -> Self {
        Self::at(url().unwrap_or_default())
    }

    /// A schema that is reached through another URL, for example that of a pooler.
    pub(crate) fn at(url: String) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let nth = NEXT.fetch_add(1, Ordering::Relaxed);
        let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos();
        // Names with quotes and capitals have to work as well.
        Self {
            name: format!("Test \"{}\" {time} {nth}", std::process::id()),
            url,
            reused: None,
            prepared: false,
        }
    }

    /// An empty schema that earlier tests have used. To make one takes longer than most tests.
    pub(crate) fn reused() -> Self {
        let Some(url) = url() else { return Self::new() };
        let reused = Reused::take();
        let separator = if url.contains('?') { '&' } else { '?' };
        let url = format!("{url}{separator}application_name={}", reused.program());
        Self { name: reused.name(), url, reused: Some(reused), prepared: false }
    }

    /// Stores that are opened in it keep their statements prepared.
    pub(crate) fn prepared(mut self) -> Self {
        self.prepared = true;
        self
    }

    pub(crate) fn options(&self) -> PostgresOptions {
        let options = PostgresCheckpointer::options().schema(&self.name).max_connections(4);
        options.prepared_statements(self.prepared)
    }

    pub(crate) async fn open(&self) -> Result<PostgresCheckpointer, CheckpointError> {
        self.options().connect(&self.url).await
    }

    /// The name, quoted for a statement.
    pub(crate) fn quoted(&self) -> String {
        format!("\"{}\"", self.name.replace('"', "\"\""))
    }

    /// Runs statements directly on the server, with the tables in the search path. Returns the number of changed rows.
    pub(crate) fn sql(&self, statement: &str) -> u64 {
        let statement = statement.to_owned();
        let path = format!("SET search_path TO {}", self.quoted());
        with_client(move |client| {
            Box::pin(async move {
                client.batch_execute(&path).await.unwrap();
                client.execute_typed(&statement, &[]).await.unwrap()
            })
        })
    }
}

impl Drop for Schema {
    fn drop(&mut self) {
        if url().is_some() && self.reused.is_none() {
            let drop = format!("DROP SCHEMA IF EXISTS {} CASCADE", self.quoted());
            with_client(move |client| Box::pin(async move { client.batch_execute(&drop).await.unwrap() }));
        }
    }
}

type Work<'c, T> = std::pin::Pin<Box<dyn Future<Output = T> + Send + 'c>>;

/// Runs work on a connection of its own, without the store.
pub(crate) fn with_client<T: Send + 'static>(
    work: impl for<'c> FnOnce(&'c Client) -> Work<'c, T> + Send + 'static,
) -> T {
    with_client_at(&url().unwrap(), work)
}

/// Runs work on a connection of its own to another URL.
pub(crate) fn with_client_at<T: Send + 'static>(
    url: &str,
    work: impl for<'c> FnOnce(&'c Client) -> Work<'c, T> + Send + 'static,
) -> T {
    let url = url.to_owned();
    let thread = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async move {
            let (client, connection) = tokio_postgres::connect(&url, NoTls).await.unwrap();
            let connection = tokio::spawn(connection);
            let done = work(&client).await;
            drop(client);
            let _ = connection.await;
            done
        })
    });
    thread.join().unwrap()
}
