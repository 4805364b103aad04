//! Schemas of their own for the tests, on the server that `PG_URL` names.

use std::env;
use std::future::Future;
use std::io::Write as _;
use std::process;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use superstep_conformance::Broken;
use superstep_postgres::PostgresOptions;
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::{Client, NoTls};

/// Returns the URL of the server. Without one, the tests are skipped, which the first of them reports.
pub(crate) fn url() -> Option<&'static str> {
    static URL: OnceLock<Option<String>> = OnceLock::new();
    URL.get_or_init(|| {
        let url = env::var("PG_URL").ok();
        if url.is_none() {
            // Not a macro, whose output the harness hides.
            let hint = "set it, for example to postgres://postgres@127.0.0.1:5432/test";
            let _ = writeln!(
                std::io::stderr(),
                "SKIPPED: tests that need a PostgreSQL server, because PG_URL is not set: {hint}"
            );
        }
        url
    })
    .as_deref()
}

/// Runs a test, unless there is no server.
pub(crate) fn with_server(test: impl Future<Output = Result<(), Broken>>) -> Result<(), Broken> {
    if url().is_some() { superstep_conformance::block_on(test) } else { Ok(()) }
}

pub(crate) fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

/// A schema of its own. It is deleted at the end of the test.
pub(crate) struct Schema {
    pub(crate) name: String,
}

impl Schema {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let nth = COUNT.fetch_add(1, Ordering::SeqCst);
        // A name that needs quotes.
        Self { name: format!("items \"{}\" {nth}", process::id()) }
    }

    pub(crate) fn options(&self) -> PostgresOptions {
        PostgresOptions::new().schema(&self.name).max_connections(4)
    }

    /// Returns the name, quoted for a statement.
    pub(crate) fn quoted(&self) -> String {
        format!("\"{}\"", self.name.replace('"', "\"\""))
    }

    /// Runs a statement in the schema, as a person does, and returns the number of changed rows.
    pub(crate) fn execute(&self, statement: &str) -> u64 {
        self.sql(async |client| client.execute_typed(statement, &[]).await.unwrap())
    }

    /// Runs a statement in the schema and returns its rows as lists of strings.
    pub(crate) fn rows(&self, statement: &str) -> Vec<Vec<Option<String>>> {
        self.sql(async |client| {
            let messages = client.simple_query(statement).await.unwrap();
            let row = |message: &tokio_postgres::SimpleQueryMessage| match message {
                tokio_postgres::SimpleQueryMessage::Row(row) => {
                    Some((0..row.len()).map(|nth| row.get(nth).map(str::to_owned)).collect())
                }
                _ => None,
            };
            messages.iter().filter_map(row).collect()
        })
    }

    pub(crate) fn sql<T: Send>(&self, work: impl AsyncFnOnce(&Client) -> T + Send) -> T {
        // On a thread of its own, so that a test with a runtime can call it too.
        std::thread::scope(|scope| {
            let run = || {
                runtime().block_on(async {
                    let (client, connection) = tokio_postgres::connect(url().unwrap(), NoTls).await.unwrap();
                    let driver = tokio::spawn(connection);
                    // In a transaction, and with statements without a name: the server may be behind a pooler.
                    client
                        .batch_execute(&format!("BEGIN; SET LOCAL search_path TO {}", self.quoted()))
                        .await
                        .unwrap();
                    let done = work(&client).await;
                    client.batch_execute("COMMIT").await.unwrap();
                    drop(client);
                    driver.await.unwrap().unwrap();
                    done
                })
            };
            scope.spawn(run).join().unwrap()
        })
    }
}

impl Drop for Schema {
    fn drop(&mut self) {
        if url().is_some() {
            self.execute(&format!("DROP SCHEMA IF EXISTS {} CASCADE", self.quoted()));
        }
    }
}
