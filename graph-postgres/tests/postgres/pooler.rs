//! The conformance suites through pgbouncer in transaction mode, if it is installed.

use std::error::Error as _;
use std::fs;
use std::io::Write as _;
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

use superstep_conformance::block_on;
use superstep_conformance::cache::TestCache;
use superstep_conformance::store::TestLongTermStore;
use superstep_postgres::{PostgresCache, PostgresStore};
use superstep_store::cache::CacheError;
use superstep_store::checkpoint::{Checkpointer as _, Fence};
use superstep_store::store::StoreError;
use tokio_postgres::Config;
use tokio_postgres::config::Host;

use crate::log::{after, append};
use crate::server::{Schema, is_long, url, with_client_at};

/// A pooler on a free port of the loopback interface.
struct Pooler {
    process: Child,
    folder: PathBuf,
    url: String,
}

fn program() -> Option<PathBuf> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders)
        .chain([PathBuf::from("/usr/sbin")])
        .map(|folder| folder.join("pgbouncer"))
        .find(|program| program.is_file())
}

impl Pooler {
    fn start(program: &PathBuf, nth: u32) -> Self {
        let server: Config = url().unwrap().parse().unwrap();
        let Some(Host::Tcp(host)) = server.get_hosts().first() else { panic!("PG_URL names no host") };
        let (host, port) = (host.clone(), server.get_ports().first().copied().unwrap_or(5432));
        let (user, database) = (server.get_user().unwrap(), server.get_dbname().unwrap());
        let password = server.get_password().map(|password| String::from_utf8_lossy(password).into_owned());
        let folder = std::env::temp_dir().join(format!("superstep-pooler-{}-{nth}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let listen = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let password = password.map(|password| format!(" password={password}")).unwrap_or_default();
        let settings = format!(
            "[databases]\npooled = host={host} port={port} dbname={database} user={user}{password}\n\
             [pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {listen}\nunix_socket_dir =\nauth_type = any\n\
             pool_mode = transaction\ndefault_pool_size = 8\nmax_client_conn = 500\nlogfile = {}\npidfile = {}\n",
            folder.join("log").display(),
            folder.join("pid").display(),
        );
        let file = folder.join("settings");
        fs::write(&file, settings).unwrap();
        // It refuses to run as root.
        let is_root = fs::metadata("/proc/self").map(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0);
        let mut command = if is_root.unwrap_or(false) {
            let owned = Command::new("chown").args(["-R", "postgres"]).arg(&folder).status().unwrap();
            assert!(owned.success());
            let mut command = Command::new("setpriv");
            command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]).arg(program);
            command
        } else {
            Command::new(program)
        };
        let process = command.arg(&file).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        while TcpStream::connect(("127.0.0.1", listen)).is_err() {
            std::thread::yield_now();
        }
        Self { process, folder, url: format!("postgres://{user}@127.0.0.1:{listen}/pooled") }
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Starts a pooler for a test. Without a server or pgbouncer, says once that the tests are skipped.
fn pooler(nth: u32) -> Option<Pooler> {
    static SKIPPED: OnceLock<()> = OnceLock::new();
    let (Some(_), Some(program)) = (url(), program()) else {
        SKIPPED.get_or_init(|| {
            let _ = writeln!(
                std::io::stderr(),
                "SKIPPED: the tests through pgbouncer need PG_URL and pgbouncer on the PATH"
            );
        });
        return None;
    };
    Some(Pooler::start(&program, nth))
}

/// A schema with items and results behind a pooler.
struct Pooled {
    schema: Schema,
    url: String,
}

impl TestLongTermStore for Pooled {
    type Store = PostgresStore;

    async fn open(&self) -> Result<PostgresStore, StoreError> {
        self.schema.options().connect_store(&self.url).await
    }
}

impl TestCache for Pooled {
    type Cache = PostgresCache;

    async fn open(&self) -> Result<PostgresCache, CacheError> {
        self.schema.options().connect_cache(&self.url).await
    }
}

#[test]
fn items_and_results_keep_their_promises_through_a_pooler() {
    let Some(pooler) = pooler(1) else { return };
    let place = || Pooled { schema: Schema::new(), url: pooler.url.clone() };
    // All cases run with `LONG=1`.
    let is_short =
        |area: &str| is_long() || ["items", "semantic_search", "namespace_lists", "results"].contains(&area);
    for case in superstep_conformance::store::cases().filter(|case| is_short(case.area())) {
        if let Err(broken) = block_on(case.run(&place())) {
            panic!("through a pooler: {broken}");
        }
    }
    for case in superstep_conformance::cache::cases().filter(|case| is_short(case.area())) {
        if let Err(broken) = block_on(case.run(&place())) {
            panic!("through a pooler: {broken}");
        }
    }
}

#[test]
fn checkpoints_keep_their_promises_through_a_pooler() {
    let Some(pooler) = pooler(0) else { return };
    for case in superstep_conformance::cases() {
        // All of them run with `LONG=1`.
        let is_short = ["commit", "atomic", "get", "records", "namespaces", "copy", "delete", "cancellation"];
        if !is_long() && !is_short.contains(&case.area()) {
            continue;
        }
        let place = Schema::at(pooler.url.clone());
        if let Err(broken) = block_on(case.run(&place)) {
            panic!("through a pooler: {broken}");
        }
    }
}

#[test]
fn prepared_statements_behind_a_pooler_work_or_are_named_as_the_cause() {
    let Some(pooler) = pooler(2) else { return };
    let schema = Schema::at(pooler.url.clone()).prepared();
    let store = block_on(schema.open()).unwrap();
    let first = append("t", Fence::default(), "0");
    let fence = after(&first);
    block_on(store.commit(first)).unwrap();
    let url = pooler.url.clone();
    // The transaction of another client holds the connection on which the statement is prepared.
    let result = with_client_at(&url, move |client| {
        Box::pin(async move {
            client.batch_execute("BEGIN; SELECT 1").await.unwrap();
            let committed = store.commit(append("t", fence, "1")).await;
            client.batch_execute("COMMIT").await.unwrap();
            committed
        })
    });
    // A pooler since 1.21 tracks prepared statements, unless it is told not to.
    if let Err(error) = result {
        let text = format!("{error}: {}", error.source().unwrap());
        assert!(text.contains("connect without `prepared_statements`"), "{text}");
    }
}
