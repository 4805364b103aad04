//! Transactions that are made once, whatever happens to the connection.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use deadpool_postgres::Object;
use futures_util::future::join;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, SimpleQueryMessage, SimpleQueryRow};

use crate::database::Connection;
use crate::error::Failure;
use crate::schema::{FORMAT, SchemaName, other_format};

/// The future of the statements of a call.
pub(crate) type Work<'c, T, E> = Pin<Box<dyn Future<Output = Result<T, E>> + Send + 'c>>;

/// Begins a transaction that writes, and returns its id.
///
/// The setting lasts as long as the transaction. Functions that write demand it: without it they would not be in a
/// transaction, for example after a cancellation of the statement that should have begun it.
///
/// Also returns the format of the schema: a newer program may have migrated it since this one has connected.
fn begin(schema: &SchemaName) -> String {
    format!(
        "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; \
         SELECT set_config('superstep.transaction', pg_current_xact_id()::text, true), {schema}.format_number()"
    )
}

/// A connection with an open transaction. It is closed, not returned to the pool, if the transaction is not ended.
#[derive(Debug)]
pub(crate) struct Open(Option<Connection>);

impl Open {
    pub(crate) fn new(connection: Connection) -> Self {
        Self(Some(connection))
    }

    pub(crate) fn client(&self) -> Result<&Client, Failure> {
        let client: &Client = self.0.as_ref().ok_or_else(|| Failure::backend("the transaction has ended"))?;
        Ok(client)
    }

    /// Ends the transaction with this statement, and returns the connection to the pool.
    pub(crate) async fn end(mut self, statement: &str) -> Result<(), Failure> {
        self.client()?.batch_execute(statement).await?;
        drop(self.0.take());
        Ok(())
    }

    /// Rolls back. The server does the same if this fails.
    pub(crate) async fn roll_back(self) {
        drop(self.end("ROLLBACK").await);
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        if let Some(connection) = self.0.take() {
            drop(Object::take(connection));
        }
    }
}

/// Reads in a transaction, which is sent together with its first statement and ends after the answer.
///
/// # Errors
/// The schema has another format than that of this program.
pub(crate) async fn read_only<T, E>(
    connection: Connection,
    schema: &SchemaName,
    begin: &str,
    read: impl for<'c> FnOnce(&'c Client) -> Work<'c, T, E>,
) -> Result<T, E>
where
    E: From<Failure> + From<tokio_postgres::Error>,
{
    let open = Open::new(connection);
    let client = open.client()?;
    let begin = format!("{begin}; SELECT {schema}.format_number()");
    let (begun, read) = join(client.simple_query(&begin), read(client)).await;
    // The answer does not wait for it, and nothing depends on it.
    drop(tokio::spawn(open.roll_back()));
    match first_row(&begun?).map(|row| row.get(0).and_then(|number| number.parse().ok())) {
        Some(Some(FORMAT)) => read,
        Some(Some(format)) => Err(other_format(format).into()),
        _ => Err(Failure::backend("the server did not tell the format of the schema").into()),
    }
}

/// A transaction whose result may be unknown: the connection was lost while it was committed.
#[derive(Debug)]
struct Doubtful<T> {
    id: String,
    result: T,
}

/// A write that takes effect once, however many attempts it takes.
#[derive(Debug)]
pub(crate) struct Once<T> {
    begin: Arc<str>,
    doubtful: Arc<Mutex<Option<Doubtful<T>>>>,
}

// Derived, it would demand `T: Clone`.
impl<T> Clone for Once<T> {
    fn clone(&self) -> Self {
        Self { begin: Arc::clone(&self.begin), doubtful: Arc::clone(&self.doubtful) }
    }
}

impl<T> Once<T> {
    /// Creates a write in this schema.
    pub(crate) fn new(schema: &SchemaName) -> Self {
        Self { begin: begin(schema).into(), doubtful: Arc::new(Mutex::new(None)) }
    }

    fn replace(&self, doubtful: Option<Doubtful<T>>) -> Option<Doubtful<T>> {
        std::mem::replace(&mut *self.doubtful.lock().unwrap_or_else(PoisonError::into_inner), doubtful)
    }

    /// Makes the write in a transaction of its own, unless an earlier attempt has made it.
    ///
    /// The statements of `work` are sent together with the begin of the transaction. An error of `work` rolls it back.
    pub(crate) async fn attempt(
        &self,
        connection: Connection,
        work: impl for<'c> FnOnce(&'c Client) -> Work<'c, T, Failure>,
    ) -> Result<T, Failure> {
        if let Some(doubtful) = self.replace(None) {
            match status(&connection, &doubtful.id).await {
                Ok(Status::Committed) => return Ok(doubtful.result),
                Ok(Status::Aborted) => {}
                Ok(Status::InProgress) => {
                    self.replace(Some(doubtful));
                    return Err(Failure::lost(
                        "the server has not yet ended the transaction of the lost connection",
                    ));
                }
                Err(failure) => {
                    self.replace(Some(doubtful));
                    return Err(failure);
                }
            }
        }
        let open = Open::new(connection);
        let client = open.client()?;
        let (begun, worked) = join(client.simple_query(&self.begin), work(client)).await;
        let (id, result) =
            match begun.map_err(Failure::from).and_then(|rows| Ok((transaction_id(rows)?, worked?))) {
                Ok(done) => done,
                Err(failure) => {
                    if !matches!(failure, Failure::Lost(_)) {
                        open.roll_back().await;
                    }
                    return Err(failure);
                }
            };
        self.replace(Some(Doubtful { id, result }));
        match open.end("COMMIT").await {
            Ok(()) => {}
            // It is unknown whether the server has committed. The next attempt asks.
            Err(failure @ Failure::Lost(_)) => return Err(failure),
            Err(failure) => {
                self.replace(None);
                return Err(failure);
            }
        }
        let done = self.replace(None);
        done.map(|done| done.result)
            .ok_or_else(|| Failure::backend("the result of the transaction was taken"))
    }
}

/// The status of a transaction.
enum Status {
    Committed,
    Aborted,
    InProgress,
}

async fn status(client: &Client, id: &String) -> Result<Status, Failure> {
    let rows = client.query_typed("SELECT pg_xact_status($1::text::xid8)", &[(id, Type::TEXT)]).await;
    let rows = match rows {
        Ok(rows) => rows,
        // A server that does not know the transaction has not committed it: it was promoted without it.
        Err(error) if error.code() == Some(&SqlState::INVALID_PARAMETER_VALUE) => {
            return Ok(Status::Aborted);
        }
        Err(error) => return Err(error.into()),
    };
    let status: Option<&str> = rows.first().map(|row| row.try_get(0)).transpose()?.flatten();
    match status {
        Some("committed") => Ok(Status::Committed),
        Some("in progress") => Ok(Status::InProgress),
        Some("aborted") => Ok(Status::Aborted),
        _ => Err(Failure::backend(
            "it is unknown whether the writes were made: the server no longer knows the transaction; read them back",
        )),
    }
}

/// Returns the id of the transaction that has begun.
///
/// # Errors
/// The schema has another format than that of this program.
fn transaction_id(messages: Vec<SimpleQueryMessage>) -> Result<String, Failure> {
    let begun = first_row(&messages).and_then(|row| Some((row.get(0)?, row.get(1)?.parse::<u32>().ok()?)));
    match begun {
        Some((id, FORMAT)) => Ok(id.to_owned()),
        Some((_, format)) => Err(other_format(format)),
        None => Err(Failure::backend("the server did not tell the id of the transaction")),
    }
}

fn first_row(messages: &[SimpleQueryMessage]) -> Option<&SimpleQueryRow> {
    messages.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => Some(row),
        _ => None,
    })
}
