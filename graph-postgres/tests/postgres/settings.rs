//! Settings that a database or a role may have for the sake of other programs.

use std::net::TcpListener;
use std::time::Duration;

use superstep_conformance::block_on;
use superstep_store::checkpoint::{CheckpointError, Checkpointer as _, Fence};

use crate::faults::{text, url_with};
use crate::log::{append, read};
use crate::server::{Schema, is_long, skip, url, with_client, with_client_at};

/// Returns the URL with settings of the session.
fn with_settings(settings: &[&str]) -> String {
    let encoded = |setting: &&str| {
        format!("-c%20{}", setting.replace('=', "%3D").replace(' ', "%5C%20").replace(',', "%2C"))
    };
    url_with(&format!("options={}", settings.iter().map(encoded).collect::<Vec<_>>().join("%20")))
}

/// Settings that change how statements are read, planned and answered.
const UNUSUAL: [&str; 11] = [
    "standard_conforming_strings=off",
    "escape_string_warning=off",
    "backslash_quote=off",
    "bytea_output=escape",
    "search_path=",
    "plan_cache_mode=force_custom_plan",
    "gin_fuzzy_search_limit=1",
    "transform_null_equals=on",
    "array_nulls=off",
    "extra_float_digits=-10",
    "DateStyle=German",
];

#[test]
fn checkpoints_keep_their_promises_under_unusual_settings() {
    if url().is_none() {
        return;
    }
    for case in superstep_conformance::cases() {
        // All of them run with `LONG=1`.
        if !is_long() && !["commit", "namespaces", "copy", "delete"].contains(&case.area()) {
            continue;
        }
        if let Err(broken) = block_on(case.run(&Schema::at(with_settings(&UNUSUAL)))) {
            panic!("under unusual settings: {broken}");
        }
    }
}

#[test]
fn views_can_be_read_under_unusual_settings() {
    if url().is_none() {
        return;
    }
    let schema = Schema::at(with_settings(&UNUSUAL));
    let store = block_on(schema.open()).unwrap();
    block_on(store.commit(append("nul\0", Fence::default(), "0"))).unwrap();
    let schema = schema.quoted();
    with_client_at(&with_settings(&UNUSUAL), move |client| {
        Box::pin(async move {
            for view in ["threads", "checkpoints", "pieces", "records", "items", "results"] {
                client.batch_execute(&format!("SELECT * FROM {schema}.{view}")).await.unwrap();
            }
        })
    });
}

#[test]
fn programs_may_create_the_schema_at_once_under_any_isolation_level() {
    if url().is_none() {
        return;
    }
    for level in ["repeatable read", "serializable"] {
        let url = with_settings(&[&format!("default_transaction_isolation={level}")]);
        let schema = Schema::at(url);
        std::thread::scope(|scope| {
            let opening: Vec<_> = (0..6).map(|_| scope.spawn(|| block_on(schema.open()).map(drop))).collect();
            for opened in opening {
                opened.join().unwrap().unwrap_or_else(|error| panic!("{level}: {}", text(&error)));
            }
        });
    }
}

/// In a search path, the name stands for the schema of the current user.
#[test]
fn schema_name_that_a_search_path_replaces_is_refused() {
    if url().is_none() {
        return;
    }
    let options = superstep_postgres::PostgresCheckpointer::options().schema("$user");
    let error = block_on(options.connect(&url().unwrap())).unwrap_err();
    assert!(
        !error.is_transient() && text(&error).contains("cannot be the name of a schema"),
        "{}",
        text(&error)
    );
}

#[test]
fn server_that_does_not_answer_does_not_hide_the_next_one() {
    let Some(url) = url() else { return };
    // The system accepts connections for it, as for a server that is frozen.
    let frozen = TcpListener::bind("127.0.0.1:0").unwrap();
    let (before, after) = url.rsplit_once('@').unwrap();
    let (hosts, database) = after.split_once('/').unwrap();
    let hosts = if hosts.contains(':') { hosts.to_owned() } else { format!("{hosts}:5432") };
    let port = frozen.local_addr().unwrap().port();
    let url = format!("{before}@127.0.0.1:{port},{hosts}/{database}");
    let schema = Schema::new();
    let options = schema.options().connect_timeout(Duration::from_millis(500));
    let store = block_on(options.retry_timeout(Duration::from_secs(3)).connect(&url)).unwrap();
    block_on(store.commit(append("t", Fence::default(), "0"))).unwrap();
    assert_eq!(block_on(read(&store, "t")).unwrap().1, ["0"]);
}

#[test]
fn read_only_sessions_are_named_as_the_cause() {
    if url().is_none() {
        return;
    }
    let schema = Schema::at(with_settings(&["default_transaction_read_only=on"]));
    let error: CheckpointError = block_on(schema.open()).unwrap_err();
    assert!(text(&error).contains("`default_transaction_read_only`"), "{}", text(&error));
}

/// A machine that has vanished does not close its connections.
#[cfg(target_os = "linux")]
#[test]
fn idle_connections_are_probed() {
    if url().is_none() {
        return;
    }
    let program = format!("superstep-probed-{}", std::process::id());
    let schema = Schema::new();
    let probe = |parameters: &str| {
        let url = url_with(&format!("application_name={program}{parameters}"));
        let store = block_on(schema.options().connect(&url)).unwrap();
        let statement =
            format!("SELECT client_port FROM pg_stat_activity WHERE application_name = '{program}'");
        let ports: Vec<i32> = with_client(move |client| {
            Box::pin(async move {
                let rows = client.query_typed(&statement, &[]).await.unwrap();
                rows.iter().map(|row| row.get(0)).collect()
            })
        });
        let seconds = ports.iter().filter_map(|port| seconds_to_probe(*port)).collect::<Vec<u64>>();
        block_on(store.close());
        seconds
    };
    let seconds = probe("");
    if seconds.is_empty() {
        return skip("the test of probes needs a server that sees the ports of this machine");
    }
    assert!(seconds.iter().all(|seconds| *seconds <= 30), "{seconds:?}");
    let seconds = probe("&keepalives_idle=600");
    assert!(seconds.iter().any(|seconds| *seconds > 500), "{seconds:?}");
}

/// Returns the time until the system probes a connection from this port.
#[cfg(target_os = "linux")]
fn seconds_to_probe(port: i32) -> Option<u64> {
    let table = |file| std::fs::read_to_string(file).unwrap_or_default();
    let table = table("/proc/net/tcp") + &table("/proc/net/tcp6");
    let line = table.lines().find(|line| {
        line.split_whitespace().nth(1).is_some_and(|local| local.ends_with(&format!(":{port:04X}")))
    })?;
    // `02:` is the timer of probes, in hundredths of a second.
    let ticks = line.split_whitespace().nth(5)?.strip_prefix("02:")?;
    Some(u64::from_str_radix(ticks, 16).unwrap() / 100)
}
