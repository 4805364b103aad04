//! The statements of the guide on production storage work on the real tables.

use std::str::FromStr as _;

use superstep_conformance::block_on;
use superstep_postgres::PostgresOptions;
use superstep_store::store::LongTermStore;
use tokio_postgres::Config;
use tokio_postgres::config::Host;

use crate::fixture::{Schema, url};

const GUIDE: &str = include_str!("../../../docs/how-to/production-storage.md");

/// Returns the blocks of SQL of a section.
fn statements(section: &str) -> Vec<&'static str> {
    let start = GUIDE.find(&format!("## {section}\n")).unwrap();
    let section = &GUIDE[start + 3..];
    let section = section.split("\n## ").next().unwrap();
    section.split("```sql\n").skip(1).map(|block| block.split("```").next().unwrap()).collect()
}

#[test]
fn monitoring_statements_work() {
    let Some(url) = url() else { return };
    let schema = Schema::new();
    let store = LongTermStore::new(block_on(schema.options().connect_store(url)).unwrap());
    block_on(async { store.of::<u32>(["users", "ann"]).put("k", &1).await }).unwrap();
    let statements = statements("Monitoring");
    assert_eq!(statements.len(), 7);
    for statement in statements {
        let name = schema.name.replace('\'', "''");
        let statement = statement.replace("orders.", &format!("{}.", schema.quoted()));
        let rows = schema.rows(&statement.replace("'orders'", &format!("'{name}'")));
        if statement.contains(".items") {
            assert_eq!(rows, [[r#"["users","ann"]"#, "1", "0"].map(|text| Some(text.to_owned()))]);
        }
        if statement.contains("pg_total_relation_size") {
            assert!(rows.iter().any(|row| row[0].as_deref() == Some("store_item")), "{rows:?}");
        }
    }
}

#[test]
fn views_have_the_columns_of_the_guide() {
    let Some(url) = url() else { return };
    let schema = Schema::new();
    drop(block_on(schema.options().connect_store(url)).unwrap());
    let table = GUIDE.split("| view | a row for each | columns |\n").nth(1).unwrap();
    let rows = table.lines().skip(1).take_while(|line| line.starts_with('|'));
    let mut views = 0;
    for row in rows {
        let [_, view, _, columns, _] = row.split('|').collect::<Vec<_>>()[..] else { panic!("{row}") };
        let (view, columns) = (view.trim().replace('`', ""), columns.replace('`', "\""));
        // The query lists all columns of the view, in their order, if the last row of the union fits.
        let all =
            format!("SELECT * FROM {0}.{view} UNION ALL SELECT {columns} FROM {0}.{view}", schema.quoted());
        assert_eq!(schema.rows(&all).len(), 0, "{view}");
        views += 1;
    }
    assert_eq!(views, 6);
}

/// Returns the connection string of a role.
fn url_of(role: &str) -> String {
    let config = Config::from_str(url().unwrap()).unwrap();
    let host = match config.get_hosts() {
        [Host::Tcp(host), ..] => host.clone(),
        _ => "127.0.0.1".to_owned(),
    };
    let port = config.get_ports().first().copied().unwrap_or(5432);
    format!(
        "host={host} port={port} user={role} password=… dbname={}",
        config.get_dbname().unwrap_or("postgres")
    )
}

#[test]
fn privileges_of_the_guide_suffice() {
    if url().is_none() {
        return;
    }
    let schema = Schema::new();
    let [owner, app] = ["owner", "app"].map(|role| format!("superstep_test_{role}_{}", std::process::id()));
    let quoted = schema.quoted();
    let named = |statement: &str| {
        let statement = statement.replace("orders_owner", &owner).replace("orders_app", &app);
        statement.replace("SCHEMA orders", &format!("SCHEMA {quoted}"))
    };
    let [roles] = statements("Roles and privileges")[..] else { panic!("one block of roles") };
    schema.rows(&named(roles));
    for statement in statements("Connections, pools and pgbouncer") {
        schema.rows(&named(statement));
    }
    let options = || PostgresOptions::new().schema(&schema.name);
    block_on(async {
        // The program cannot create the tables, and the owner of the schema can.
        let refused = options().connect_store(&url_of(&app)).await.unwrap_err();
        assert!(!refused.is_transient(), "{refused:?}");
        drop(options().connect_store(&url_of(&owner)).await.unwrap());
        let store = options().migrate(false).connect_store(&url_of(&app)).await.unwrap();
        let items = LongTermStore::new(store.clone()).of::<u32>("n");
        items.put("k", &1).await.unwrap();
        assert_eq!(items.get("k").await.unwrap(), Some(1));
        assert!(items.delete("k").await.unwrap());
        use superstep_store::cache::{Cache as _, Clear};
        assert_eq!(store.cache().clear(Clear::All).await.unwrap(), 0);
    });
    schema.rows(&format!("DROP SCHEMA {quoted} CASCADE; DROP ROLE {owner}; DROP ROLE {app}"));
}
