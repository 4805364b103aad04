//! Failures of connections and of the server. Each error says what to do.

use std::error::Error as _;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, UNIX_EPOCH};

use superstep_conformance::block_on;
use superstep_postgres::PostgresCheckpointer;
use superstep_store::checkpoint::{
    CheckpointError, CheckpointQuery, Checkpointer as _, Fence, NamespaceQuery, Prune, ThreadQuery,
    WriteBatch,
};

use crate::log::{after, append, read, submit};
use crate::server::{Schema, url, with_client};

/// Returns the URL with another parameter.
pub(crate) fn url_with(parameter: &str) -> String {
    let url = url().unwrap();
    format!("{url}{}{parameter}", if url.contains('?') { '&' } else { '?' })
}

pub(crate) fn text(error: &CheckpointError) -> String {
    format!("{error}: {}", error.source().map(ToString::to_string).unwrap_or_default())
}

/// Ends the connections of a program once for each call that it begins, at any time during the call. Returns their number.
fn terminate(program: &str, begun: &AtomicU32, calls: u32) -> u64 {
    let statement = format!(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '{program}'"
    );
    let (mut ended, mut seen) = (0, 0);
    while seen < calls {
        let now = begun.load(Ordering::SeqCst);
        if now == seen {
            std::thread::yield_now();
            continue;
        }
        seen = now;
        let statement = statement.clone();
        ended += with_client(move |client| {
            Box::pin(async move { client.query_typed(&statement, &[]).await.unwrap().len() as u64 })
        });
    }
    ended
}

#[test]
fn commits_are_made_once_although_connections_end() {
    if url().is_some() {
        commit_although_connections_end(&Schema::new(), "unnamed");
        commit_although_connections_end(&Schema::new().prepared(), "prepared");
    }
}

fn commit_although_connections_end(schema: &Schema, statements: &str) {
    const CALLS: u32 = 40;
    let program = format!("superstep-faults-{}-{statements}", std::process::id());
    let url = url_with(&format!("application_name={program}"));
    let store = block_on(schema.options().connect(&url)).unwrap();
    let begun = AtomicU32::new(0);
    let ended = std::thread::scope(|scope| {
        let terminator = scope.spawn(|| terminate(&program, &begun, CALLS));
        let mut fence = Fence::default();
        for n in 0..CALLS {
            begun.store(n + 1, Ordering::SeqCst);
            // A commit that were made twice would be a conflict. A batch that only raises the epoch has no id of its own.
            let raise = WriteBatch::new("t", "origin", fence).epoch(fence.epoch + 1);
            block_on(store.commit(raise)).unwrap();
            fence.epoch += 1;
            let batch = append("t", fence, &n.to_string());
            fence = after(&batch);
            block_on(store.commit(batch)).unwrap();
            let (found, log) = block_on(read(&store, "t")).unwrap();
            assert_eq!((found, log.len()), (fence, n as usize + 1), "commit {n} was acknowledged");
        }
        terminator.join().unwrap()
    });
    assert!(ended > 0, "no connection was ended");
    let (_, log) = block_on(read(&store, "t")).unwrap();
    assert_eq!(log, (0..CALLS).map(|n| n.to_string()).collect::<Vec<_>>());
}

#[test]
fn prune_passes_over_threads_with_nothing_to_drop() {
    if url().is_none() {
        return;
    }
    let schema = Schema::new();
    let store = block_on(schema.open()).unwrap();
    let first = append("t", Fence::default(), "0");
    let fence = after(&first);
    block_on(store.commit(first)).unwrap();
    block_on(store.commit(append("t", fence, "1"))).unwrap();
    let lock = format!("BEGIN; SELECT pg_advisory_xact_lock({}.lock_of('t'))", schema.quoted());
    // The lock of the thread is not asked for.
    with_client(move |client| {
        Box::pin(async move {
            client.batch_execute(&lock).await.unwrap();
            for prune in [Prune::new().keep_last(2), Prune::new().older_than(UNIX_EPOCH)] {
                assert_eq!(store.prune(prune).await.unwrap().checkpoints, 0);
            }
        })
    });
    let store = block_on(schema.open()).unwrap();
    assert_eq!(block_on(store.prune(Prune::new().keep_last(1))).unwrap().checkpoints, 1);
}

#[test]
fn server_that_only_reads_refuses_writes_and_serves_reads() {
    if url().is_none() {
        return;
    }
    let schema = Schema::new();
    let primary = block_on(schema.open()).unwrap();
    block_on(primary.commit(append("t", Fence::default(), "0"))).unwrap();
    let standby =
        block_on(schema.options().connect(&url_with("options=-c%20default_transaction_read_only%3Don")))
            .unwrap();
    let (fence, log) = block_on(read(&standby, "t")).unwrap();
    assert_eq!(log, ["0"]);
    let error = block_on(standby.commit(append("t", fence, "1"))).unwrap_err();
    assert!(error.is_transient(), "{error:?}");
    assert!(text(&error).contains("target_session_attrs=read-write"), "{}", text(&error));
    let (found, _) = block_on(read(&standby, "t")).unwrap();
    assert_eq!(found, fence);
}

#[test]
fn statement_timeout_is_an_error_that_passes() {
    if url().is_none() {
        return;
    }
    let schema = Schema::new();
    let store = block_on(schema.open()).unwrap();
    block_on(store.commit(append("t", Fence::default(), "0"))).unwrap();
    let slow = block_on(schema.options().connect(&url_with("options=-c%20statement_timeout%3D200"))).unwrap();
    let (fence, _) = block_on(read(&store, "t")).unwrap();
    let lock = format!("BEGIN; SELECT pg_advisory_xact_lock({}.lock_of('t'))", schema.quoted());
    // Another transaction holds the lock of the thread for as long as the commit waits.
    let error = with_client(move |client| {
        Box::pin(async move {
            client.batch_execute(&lock).await.unwrap();
            slow.commit(append("t", fence, "1")).await.unwrap_err()
        })
    });
    assert!(error.is_transient() && text(&error).contains("statement_timeout"), "{}", text(&error));
    assert_eq!(block_on(read(&store, "t")).unwrap().0, fence);
    block_on(store.commit(append("t", fence, "1"))).unwrap();
}

#[test]
fn full_pool_is_an_error_that_names_the_option() {
    if url().is_none() {
        return;
    }
    let schema = Schema::new();
    let options = schema.options().max_connections(1).pool_timeout(Duration::from_millis(100));
    let store = block_on(options.connect(&url().unwrap())).unwrap();
    let lock = format!("BEGIN; SELECT pg_advisory_xact_lock({}.lock_of('t'))", schema.quoted());
    let waiting = store.clone();
    let error = with_client(move |client| {
        Box::pin(async move {
            client.batch_execute(&lock).await.unwrap();
            // The commit holds the only connection. Its first poll submits it.
            let mut commit = waiting.commit(append("t", Fence::default(), "0"));
            submit(&mut commit).await;
            let error = loop {
                if let Err(error) = waiting.get("other", "", None).await {
                    break error;
                }
            };
            client.batch_execute("ROLLBACK").await.unwrap();
            commit.await.unwrap();
            error
        })
    });
    assert!(error.is_transient() && text(&error).contains("max_connections"), "{}", text(&error));
    assert_eq!(block_on(read(&store, "t")).unwrap().1, ["0"]);
}

#[test]
fn other_isolation_levels_are_refused() {
    if url().is_none() {
        return;
    }
    let schema = Schema::new();
    let url = url_with("options=-c%20default_transaction_isolation%3Dserializable");
    let store = block_on(schema.options().connect(&url)).unwrap();
    let error = block_on(store.commit(append("t", Fence::default(), "0"))).unwrap_err();
    assert!(text(&error).contains("default_transaction_isolation"), "{}", text(&error));
}

#[test]
fn unreachable_server_is_an_error_that_passes() {
    let connect = PostgresCheckpointer::options().retry_timeout(Duration::from_millis(50));
    // Nothing listens on the discard port.
    let error = block_on(connect.connect("postgres://nobody@127.0.0.1:9/none")).unwrap_err();
    assert!(error.is_transient(), "{}", text(&error));
    assert!(text(&error).contains("connection to the server failed"), "{}", text(&error));
}

#[test]
fn longest_timeouts_are_no_limit() {
    if url().is_none() {
        return;
    }
    let schema = Schema::new();
    let options = schema.options().connect_timeout(Duration::MAX).pool_timeout(Duration::MAX);
    let store = block_on(options.retry_timeout(Duration::MAX).connect(&url().unwrap())).unwrap();
    block_on(store.commit(append("t", Fence::default(), "0"))).unwrap();
    assert_eq!(block_on(read(&store, "t")).unwrap().1, ["0"]);
}

#[test]
fn url_and_schema_name_are_checked_before_connecting() {
    for (url, schema, expected) in [
        ("postgres://localhost:port/none", "s", "not a connection string"),
        ("mysql://localhost/none", "s", "write `postgres://user@host/database`"),
        ("", "s", "names no server"),
        ("postgres://127.0.0.1:9/none", "", "cannot be the name of a schema"),
        ("postgres://127.0.0.1:9/none", "pg_mine", "cannot be the name of a schema"),
        ("postgres://127.0.0.1:9/none", "nul\0", "cannot be the name of a schema"),
    ] {
        let error = block_on(PostgresCheckpointer::options().schema(schema).connect(url)).unwrap_err();
        assert!(!error.is_transient() && text(&error).contains(expected), "{}", text(&error));
    }
}

#[test]
fn older_program_refuses_a_newer_schema() {
    if url().is_none() {
        return;
    }
    let schema = Schema::new();
    let connected = block_on(schema.open()).unwrap();
    block_on(connected.commit(append("t", Fence::default(), "0"))).unwrap();
    // As a migration by a newer program.
    schema.sql("UPDATE format SET number = 99");
    schema.sql(
        "CREATE OR REPLACE FUNCTION format_number() RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT 99'",
    );
    let error = block_on(schema.open()).unwrap_err();
    assert!(matches!(error, CheckpointError::NewerFormat { found: 99, .. }), "{error:?}");
    for error in [
        block_on(connected.commit(append("t", Fence::default(), "0"))).unwrap_err(),
        block_on(connected.get("t", "", None)).unwrap_err(),
        block_on(connected.delete("t", None)).unwrap_err(),
        block_on(connected.copy("t", "u", None)).unwrap_err(),
        block_on(connected.prune(Prune::new().keep_last(1))).unwrap_err(),
        block_on(connected.threads(ThreadQuery::new())).unwrap_err(),
        block_on(connected.list(CheckpointQuery::new("t"))).unwrap_err(),
        block_on(connected.history(CheckpointQuery::new("t"))).unwrap_err(),
        block_on(connected.namespaces(NamespaceQuery::new("t"))).unwrap_err(),
    ] {
        assert!(matches!(error, CheckpointError::NewerFormat { found: 99, .. }), "{error:?}");
    }
}

#[test]
fn several_programs_may_create_the_schema_at_once() {
    if url().is_none() {
        return;
    }
    let schema = Schema::new();
    std::thread::scope(|scope| {
        let opening: Vec<_> = (0..6).map(|_| scope.spawn(|| block_on(schema.open()).map(drop))).collect();
        for opened in opening {
            opened.join().unwrap().unwrap();
        }
    });
}

#[test]
fn schema_is_not_created_without_migration() {
    if url().is_none() {
        return;
    }
    let schema = Schema::new();
    let error = block_on(schema.options().migrate(false).connect(&url().unwrap())).unwrap_err();
    assert!(text(&error).contains("migrate(true)"), "{}", text(&error));
    drop(block_on(schema.open()).unwrap());
    drop(block_on(schema.options().migrate(false).connect(&url().unwrap())).unwrap());
}

#[test]
fn closed_store_has_made_its_writes_and_refuses_others() {
    if url().is_none() {
        return;
    }
    let schema = Schema::new();
    let store = block_on(schema.open()).unwrap();
    let mut commit = store.commit(append("t", Fence::default(), "0"));
    block_on(async {
        submit(&mut commit).await;
        store.close().await;
        commit.await.unwrap();
        let error = store.commit(append("u", Fence::default(), "0")).await.unwrap_err();
        assert!(text(&error).contains("closed"), "{}", text(&error));
        assert!(store.get("t", "", None).await.is_err());
    });
    let again = block_on(schema.open()).unwrap();
    assert_eq!(block_on(read(&again, "t")).unwrap().1, ["0"]);
}

#[test]
fn views_show_names_and_ids_as_the_program_does() {
    if url().is_none() {
        return;
    }
    let schema = Schema::new();
    let store = block_on(schema.open()).unwrap();
    let batch = append("ticket\u{0}17", Fence::default(), "hello");
    let id = after(&batch).head.unwrap().to_string();
    block_on(store.commit(batch)).unwrap();
    let found = |view: &str, condition: String| {
        schema.sql("CREATE TABLE IF NOT EXISTS counted (n integer)");
        schema.sql(&format!("INSERT INTO counted SELECT 1 FROM {view} WHERE {condition}"))
    };
    assert_eq!(found("threads", "thread = 'ticket\\00017' AND status = 'unknown'".to_owned()), 1);
    assert_eq!(found("checkpoints", format!("checkpoint = '{id}' AND next = '[\"next\"]'")), 1);
    assert_eq!(found("pieces", format!("first = '{id}' AND field = 'log' AND kind = 'delta'")), 1);
    assert_eq!(found("records", "true".to_owned()), 0);
}

#[test]
fn url_that_asks_for_tls_needs_a_verified_server() {
    if url().is_none() {
        return;
    }
    let schema = Schema::new();
    // The server under test has no certificate, or an unknown authority has signed it.
    let error = block_on(schema.options().connect(&url_with("sslmode=require"))).unwrap_err();
    let expected = if cfg!(feature = "rustls") { "`root_certificates`" } else { "the feature `rustls`" };
    assert!(!error.is_transient() && text(&error).contains(expected), "{}", text(&error));
    // It promises nothing, so it falls back.
    drop(block_on(schema.options().connect(&url_with("sslmode=prefer"))).unwrap());
}
