//! The long-term store and the cache in one schema, as programs and people see them.

use std::time::{Duration, UNIX_EPOCH};

use superstep_conformance::block_on;
use superstep_postgres::{PostgresCheckpointer, PostgresStore};
use superstep_store::cache::{Cache as _, CacheError, Clear, EntryKey, NewEntry};
use superstep_store::payload::Payload;
use superstep_store::store::{LongTermStore, Namespace, Search, Store as _, StoreError};

use crate::fixture::{Schema, url};

fn open(schema: &Schema) -> PostgresStore {
    block_on(schema.options().connect_store(url().unwrap())).unwrap()
}

/// A long-term store with a fixed clock.
fn fixed_clock(store: PostgresStore) -> LongTermStore {
    LongTermStore::new(store).clock(|| UNIX_EPOCH + Duration::from_secs(60))
}

fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

#[test]
fn checkpoints_items_and_results_share_a_schema() {
    let Some(url) = url() else { return };
    let schema = Schema::new();
    let checkpoints: PostgresCheckpointer = block_on(schema.options().connect(url)).unwrap();
    let (shared, apart) = (fixed_clock(checkpoints.store()), fixed_clock(open(&schema)));
    block_on(async {
        shared.of::<u32>("n").put("shared", &1).await.unwrap();
        apart.of::<u32>("n").put("apart", &2).await.unwrap();
        let at = EntryKey::new("graph", "node", "state", "key");
        let put = NewEntry::new(at.clone(), Payload::json("1"));
        checkpoints.cache().put(vec![put], UNIX_EPOCH).await.unwrap();
        drop(checkpoints);
        let cache = open(&schema).cache();
        assert_eq!(cache.get(at, UNIX_EPOCH).await.unwrap(), Some(Payload::json("1")));
        assert_eq!(shared.of::<u32>("n").search().await.unwrap().items.len(), 2);
    });
}

#[test]
fn items_and_results_are_readable_in_psql() {
    if url().is_none() {
        return;
    }
    let schema = Schema::new();
    let store = open(&schema);
    let cache = store.cache();
    let items = fixed_clock(store).of::<(u8, String)>(["users", "a\"b", "é\0"]);
    block_on(async {
        items.put("k", &(7, "x".into())).ttl(Duration::from_secs(1)).await.unwrap();
        items.put("\0", &(8, "y".into())).await.unwrap();
        let at = EntryKey::new("Page", "fetch\0", "v1", "\"/a\"");
        cache.put(vec![NewEntry::new(at, Payload::json("[1]"))], UNIX_EPOCH).await.unwrap();
    });
    let namespace = text(r#"["users","a\"b","é\u0000"]"#);
    let shown =
        schema.rows("SELECT namespace, key, value, expires = updated + interval '1 second' FROM items");
    assert_eq!(
        shown,
        [
            vec![namespace.clone(), text(r#""\u0000""#), text(r#"[8,"y"]"#), None],
            vec![namespace, text("k"), text(r#"[7,"x"]"#), text("t")],
        ]
    );
    let shown = schema.rows("SELECT graph, node, state, key, value, expires FROM results");
    assert_eq!(
        shown,
        [vec![
            text("\"Page\""),
            text(r#""fetch\u0000""#),
            text("\"v1\""),
            text(r#""\"/a\"""#),
            text("[1]"),
            None
        ]]
    );
}

#[test]
fn deleted_and_expired_items_leave_no_rows() {
    if url().is_none() {
        return;
    }
    let schema = Schema::new();
    let store = fixed_clock(open(&schema));
    block_on(async {
        for n in 0..10_u32 {
            let items = store.of::<u32>(["users", &n.to_string()]);
            items.put("a", &n).await.unwrap();
            items.put("b", &n).ttl(Duration::from_secs(1)).await.unwrap();
            items.delete("a").await.unwrap();
        }
        assert_eq!(store.store().delete_expired(UNIX_EPOCH + Duration::from_secs(61)).await.unwrap(), 10);
    });
    let rows = schema.rows("SELECT (SELECT count(*) FROM store_item) + (SELECT count(*) FROM store_vector)");
    assert_eq!(rows, [[text("0")]]);
}

#[test]
fn corruption_error_names_the_item() {
    if url().is_none() {
        return;
    }
    for (statement, expected) in [
        (
            "UPDATE store_item SET encoding = 99",
            "item `k` of namespace [\"n\"] cannot be read: the value: unknown encoding 99",
        ),
        (
            "UPDATE store_item SET ttl = -1",
            "item `k` of namespace [\"n\"] cannot be read: the time to live: it is out of range",
        ),
        (
            "UPDATE store_item SET name = 'n'",
            "stored data cannot be read: a name of the long-term store: it is not a namespace and a key",
        ),
    ] {
        let schema = Schema::new();
        let store = fixed_clock(open(&schema));
        block_on(async {
            store.of::<u32>("n").put("k", &1).await.unwrap();
            assert_eq!(schema.execute(statement), 1, "{statement}");
            let error = store.of::<u32>(Namespace::root()).search().await.unwrap_err();
            assert!(matches!(error, StoreError::Corrupt(_)), "{error:?}");
            assert_eq!(error.to_string(), expected, "{statement}");
            // A corrupt item does not stop writes, and a corrupt name does not stop a list for ever.
            store.of::<u32>("other").put("k", &1).await.unwrap();
            let listed = store.namespaces().await;
            assert_eq!(listed.is_ok(), !statement.contains("name"), "{statement}");
        });
    }
}

#[test]
fn sessions_with_other_settings_do_not_change_results() {
    let Some(url) = url() else { return };
    let schema = Schema::new();
    let settings = "options=-c%20default_transaction_isolation%3Dserializable%20-c%20default_transaction_read_only%3Don\
                    %20-c%20bytea_output%3Descape%20-c%20search_path%3Dpg_catalog";
    let url = format!("{url}{}{settings}", if url.contains('?') { '&' } else { '?' });
    // A session that only reads by default cannot create the tables.
    drop(open(&schema));
    let store = fixed_clock(block_on(schema.options().connect_store(&url)).unwrap());
    block_on(async {
        for n in 0..3_u32 {
            store.of::<u32>("n").put(n.to_string(), &n).await.unwrap();
        }
        assert_eq!(store.of::<u32>("n").search().await.unwrap().items.len(), 3);
        assert!(store.of::<u32>("n").delete("1").await.unwrap());
    });
}

#[test]
fn large_batches_are_written_in_several_statements() {
    if url().is_none() {
        return;
    }
    let schema = Schema::new();
    let store = fixed_clock(open(&schema));
    let value = "x".repeat(5 << 20);
    block_on(async {
        let mut batch = store.batch();
        for n in 0..10 {
            batch = batch.put(store.of::<String>("n").put(n.to_string(), &value));
        }
        assert_eq!(batch.await.unwrap(), [false; 10]);
        let search = Search::new(UNIX_EPOCH, "n").limit(3);
        assert_eq!(store.store().search(search).await.unwrap().items.len(), 3);
    });
}

#[test]
fn cache_keeps_the_results_of_the_last_puts() {
    if url().is_none() {
        return;
    }
    let schema = Schema::new();
    let cache = open(&schema).cache().max_results(50);
    let at = |n: u32| EntryKey::new("graph", "node", "state", n.to_string());
    block_on(async {
        for n in 0..500 {
            cache.put(vec![NewEntry::new(at(n), Payload::json("1"))], UNIX_EPOCH).await.unwrap();
        }
        let found = async |n| cache.get(at(n), UNIX_EPOCH).await.unwrap().is_some();
        assert!(found(499).await && found(450).await && !found(449).await && !found(0).await);
        // A result that is put again is among the newest.
        cache.put(vec![NewEntry::new(at(451), Payload::json("2"))], UNIX_EPOCH).await.unwrap();
        for n in 500..540 {
            cache.put(vec![NewEntry::new(at(n), Payload::json("1"))], UNIX_EPOCH).await.unwrap();
        }
        assert!(found(451).await && !found(452).await);
        assert_eq!(cache.clear(Clear::All).await.unwrap(), 50);
    });
}

#[test]
fn older_program_writes_nothing_to_a_newer_schema() {
    if url().is_none() {
        return;
    }
    let schema = Schema::new();
    let store = open(&schema);
    let items = fixed_clock(store.clone());
    // As a migration by a newer program.
    schema.execute("UPDATE format SET number = 99");
    schema.execute(
        "CREATE OR REPLACE FUNCTION format_number() RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT 99'",
    );
    block_on(async {
        let error = items.of::<u32>("n").put("a", &1).await.unwrap_err();
        assert!(format!("{error:?}").contains("NewerFormat"), "{error:?}");
        let error = items.of::<u32>("n").get("a").await.unwrap_err();
        assert!(format!("{error:?}").contains("NewerFormat"), "{error:?}");
        let at = EntryKey::new("graph", "node", "state", "key");
        let put = store.cache().put(vec![NewEntry::new(at, Payload::json("1"))], UNIX_EPOCH).await;
        assert!(matches!(put, Err(CacheError::NewerFormat { found: 99, .. })), "{put:?}");
        let cleared = store.cache().clear(Clear::All).await;
        assert!(matches!(cleared, Err(CacheError::NewerFormat { found: 99, .. })), "{cleared:?}");
    });
    assert!(schema.rows("SELECT 1 FROM store_item UNION ALL SELECT 1 FROM cache_entry").is_empty());
}
