//! Schemas of a PostgreSQL server for tests. `PG_URL` names the server.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::Write as _;
use std::sync::{Arc, Once, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use superstep::checkpoint::Checkpointer;
use superstep_postgres::PostgresCheckpointer;
use tokio_postgres::{Client, NoTls};

/// The statements that make a schema.
const TABLES: &str = concat!(
    include_str!("../../graph-postgres/src/schema/1.sql"),
    include_str!("../../graph-postgres/src/schema/2.sql"),
    include_str!("../../graph-postgres/src/schema/3.sql"),
    include_str!("../../graph-postgres/src/schema/4.sql"),
);

/// An empty schema, used by one test at a time. To make one takes longer than most tests, so schemas stay on the server:
/// a test takes the first one that no other test uses, in this process or in another, and empties it.
#[derive(Debug)]
pub struct PostgresSchema {
    name: String,
    url: String,
    // The connection that holds the schema's lock, driven by a thread. Dropping the sender ends both.
    release: Option<mpsc::Sender<()>>,
    holder: Option<JoinHandle<()>>,
}

impl PostgresSchema {
    /// Takes a schema of the server at `PG_URL`. Returns `None`, and says once that tests are skipped, without a server.
    pub fn take() -> Option<Self> {
        static SKIPPED: Once = Once::new();
        let Ok(url) = std::env::var("PG_URL") else {
            SKIPPED.call_once(|| {
                // Not a macro: the test harness would capture it.
                let _ = writeln!(
                    std::io::stderr(),
                    "SKIPPED: tests of threads on PostgreSQL need a server. Set PG_URL, or run them with .ci/with-postgres"
                );
            });
            return None;
        };
        let (taken, name) = mpsc::channel();
        let (release, released) = mpsc::channel::<()>();
        let server = url.clone();
        let holder = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let (client, connection) = tokio_postgres::connect(&server, NoTls).await.unwrap();
                let connection = tokio::spawn(connection);
                taken.send(take_free(&client).await).unwrap();
                let _ = tokio::task::spawn_blocking(move || released.recv()).await;
                drop(client);
                let _ = connection.await;
            });
        });
        let name = name.recv().unwrap();
        Some(Self { name, url, release: Some(release), holder: Some(holder) })
    }

    /// Opens a store on the schema.
    pub fn open(&self) -> Arc<dyn Checkpointer> {
        let options = PostgresCheckpointer::options().schema(&self.name).max_connections(2);
        let separator = if self.url.contains('?') { '&' } else { '?' };
        let url = format!("{}{separator}application_name={}", self.url, self.name);
        // The test may be inside a runtime that must not be blocked by a future of its own.
        let opened = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            runtime.block_on(options.connect(&url)).unwrap()
        });
        Arc::new(opened.join().unwrap())
    }

    /// Returns the processor time that the server has used for the open stores of the schema. `None` if it runs on another
    /// machine, or if the operating system does not tell.
    pub fn server_time(&self) -> Option<Duration> {
        let (url, name) = (self.url.clone(), self.name.clone());
        let reading = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let (client, connection) = tokio_postgres::connect(&url, NoTls).await.unwrap();
                let connection = tokio::spawn(connection);
                let processes = "SELECT pid FROM pg_stat_activity \
                    WHERE application_name = $1 AND inet_server_addr() <<= ANY('{127.0.0.0/8, ::1}'::inet[])";
                let processes = client.query(processes, &[&name]).await.unwrap();
                drop(client);
                let _ = connection.await;
                processes.iter().map(|process| process.get(0)).collect::<Vec<i32>>()
            })
        });
        let processes = reading.join().unwrap();
        if processes.is_empty() {
            return None;
        }
        let time = |process: i32| {
            let times = std::fs::read_to_string(format!("/proc/{process}/schedstat")).ok()?;
            times.split(' ').next()?.parse().ok().map(Duration::from_nanos)
        };
        processes.into_iter().map(time).sum()
    }
}

impl Drop for PostgresSchema {
    fn drop(&mut self) {
        self.release = None;
        if let Some(holder) = self.holder.take() {
            let _ = holder.join();
        }
    }
}

/// Takes the first schema that no other test uses, and empties it. The session of the client holds its lock.
async fn take_free(client: &Client) -> String {
    let mut nth = 0;
    loop {
        let name = format!("superstep_tests_{nth}");
        let lock = "SELECT pg_try_advisory_lock(hashtextextended($1, 0))";
        if client.query_one(lock, &[&name]).await.unwrap().get(0) {
            empty(client, &name).await;
            return name;
        }
        nth += 1;
    }
}

/// Deletes the rows of a schema. Other statements than those of today may have made it: then drops it.
async fn empty(client: &Client, name: &str) {
    let mut hasher = DefaultHasher::new();
    TABLES.hash(&mut hasher);
    let made_by = hasher.finish().to_string();
    let found = "SELECT obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE nspname = $1";
    let found = client.query_opt(found, &[&name]).await.unwrap();
    let found = found.and_then(|row| row.get::<_, Option<String>>(0));
    let statements = if found.as_ref() == Some(&made_by) {
        // A handle that an earlier test dropped may still write.
        let handles = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1";
        client.execute(handles, &[&name]).await.unwrap();
        format!(
            "DO $$ DECLARE found record; BEGIN
             FOR found IN SELECT tablename FROM pg_tables WHERE schemaname = '{name}' AND tablename <> 'format' LOOP
             EXECUTE format('DELETE FROM {name}.%I', found.tablename); END LOOP; END $$"
        )
    } else {
        format!(
            "DROP SCHEMA IF EXISTS {name} CASCADE; CREATE SCHEMA {name}; COMMENT ON SCHEMA {name} IS '{made_by}'"
        )
    };
    client.batch_execute(&statements).await.unwrap();
}
