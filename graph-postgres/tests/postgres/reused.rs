//! Schemas that stay on the server. A test takes one that no other test uses, in this process or in another.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{LazyLock, mpsc};

use tokio_postgres::{Client, NoTls};

use crate::server::url;

/// The statements that make a schema.
const TABLES: &str = concat!(
    include_str!("../../src/schema/1.sql"),
    include_str!("../../src/schema/2.sql"),
    include_str!("../../src/schema/3.sql"),
    include_str!("../../src/schema/4.sql"),
);

/// A taken schema. Dropping it lets other tests take it.
pub(crate) struct Reused(u32);

enum Request {
    Take(mpsc::Sender<u32>),
    Release(u32),
}

/// A thread with a connection whose session holds the locks of the schemas that this process has taken.
static HOLDER: LazyLock<mpsc::Sender<Request>> = LazyLock::new(|| {
    let (requests, received) = mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (client, connection) = runtime.block_on(tokio_postgres::connect(&url().unwrap(), NoTls)).unwrap();
        runtime.spawn(connection);
        let mut taken = BTreeSet::new();
        for request in received {
            match request {
                Request::Take(answer) => {
                    let nth = runtime.block_on(take(&client, &taken));
                    taken.insert(nth);
                    answer.send(nth).unwrap();
                }
                Request::Release(nth) => {
                    taken.remove(&nth);
                    let unlock = "SELECT pg_advisory_unlock(hashtextextended($1, 0))";
                    runtime.block_on(client.execute(unlock, &[&name(nth)])).unwrap();
                }
            }
        }
    });
    requests
});

impl Reused {
    pub(crate) fn take() -> Self {
        let (answer, taken) = mpsc::channel();
        HOLDER.send(Request::Take(answer)).unwrap();
        Self(taken.recv().unwrap())
    }

    pub(crate) fn name(&self) -> String {
        name(self.0)
    }

    pub(crate) fn program(&self) -> String {
        program(self.0)
    }
}

/// Returns the name of a schema. Names with quotes and capitals have to work as well.
fn name(nth: u32) -> String {
    format!("Reused \"{nth}\"")
}

/// Returns the name with which programs connect to a schema.
fn program(nth: u32) -> String {
    format!("superstep-reused-{nth}")
}

impl Drop for Reused {
    fn drop(&mut self) {
        let _ = HOLDER.send(Request::Release(self.0));
    }
}

/// Takes the first schema that no other test uses, and empties it.
async fn take(client: &Client, taken: &BTreeSet<u32>) -> u32 {
    let mut nth = 0;
    loop {
        let lock = "SELECT pg_try_advisory_lock(hashtextextended($1, 0))";
        // The session that holds a lock gets it again.
        if !taken.contains(&nth) && client.query_one(lock, &[&name(nth)]).await.unwrap().get(0) {
            empty(client, nth).await;
            return nth;
        }
        nth += 1;
    }
}

/// Deletes the rows of a schema. If other statements than those of this program have made it, drops it.
async fn empty(client: &Client, nth: u32) {
    let (schema, program) = (name(nth), program(nth));
    let mut hasher = DefaultHasher::new();
    TABLES.hash(&mut hasher);
    let made_by = hasher.finish().to_string();
    let found = "SELECT obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE nspname = $1";
    let found = client.query_opt(found, &[&schema]).await.unwrap();
    let quoted = format!("\"{}\"", schema.replace('"', "\"\""));
    let statements = if found.and_then(|row| row.get::<_, Option<String>>(0)).as_ref() == Some(&made_by) {
        // A store that an earlier test dropped may still write.
        let stores =
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name = $1";
        client.query(stores, &[&program]).await.unwrap();
        let tables = "SELECT tablename FROM pg_tables WHERE schemaname = $1 AND tablename <> 'format'";
        let tables = client.query(tables, &[&schema]).await.unwrap();
        tables.iter().map(|row| format!("DELETE FROM {quoted}.{};", row.get::<_, &str>(0))).collect()
    } else {
        format!(
            "DROP SCHEMA IF EXISTS {quoted} CASCADE; CREATE SCHEMA {quoted}; COMMENT ON SCHEMA {quoted} IS '{made_by}'"
        )
    };
    client.batch_execute(&statements).await.unwrap();
}
