use super::{FIRST, TestKey, batch, corrupt, encrypted, read_changes, write};
use crate::checkpoint::{CheckpointQuery, Checkpointer, MemoryCheckpointer, ThreadQuery};
use crate::payload::Encoding;

const SECOND: TestKey = TestKey(2, 8);

#[tokio::test]
async fn rotation_reads_old_values_and_writes_with_the_new_key() {
    let store = MemoryCheckpointer::new();
    write(&encrypted(&store, &[FIRST]), "t").await;
    let both = encrypted(&store, &[SECOND, FIRST]);
    let before = read_changes(&both, "t", 4).await.unwrap();
    both.commit(batch("t", 5, "list+new")).await.unwrap();
    assert_eq!(read_changes(&both, "t", 5).await.unwrap(), before.replace("list+g", "list+g list+new"));

    // One key alone does not read the values of the other.
    let old = corrupt("old", read_changes(&encrypted(&store, &[FIRST]), "t", 5).await).to_string();
    assert!(old.contains("it is encrypted under key 2, which is missing"), "{old}");
    let new = corrupt("new", read_changes(&encrypted(&store, &[SECOND]), "t", 5).await).to_string();
    assert!(new.contains("it is encrypted under key 1, which is missing"), "{new}");

    // The old key is not needed once no value that it encrypted is read.
    both.commit(batch("t", 6, "n=3 list=all twin=3 other=3")).await.unwrap();
    let second = encrypted(&store, &[SECOND]);
    assert_eq!(read_changes(&second, "t", 6).await.unwrap(), "list=all n=3 other=3 twin=3");
    let listed = second.threads(ThreadQuery::default()).await.unwrap().items;
    assert!(listed.iter().all(|thread| thread.head.is_ok()) && listed.len() == 1);
    let query = CheckpointQuery { thread: "t".into(), ..CheckpointQuery::default() };
    assert_eq!(
        second.list(CheckpointQuery { limit: Some(2), ..query.clone() }).await.unwrap().items.len(),
        2
    );
    corrupt("a list with old ones", second.list(query).await);
}

#[tokio::test]
async fn wrong_secret_under_the_same_number_reads_nothing() {
    let store = MemoryCheckpointer::new();
    write(&encrypted(&store, &[FIRST]), "t").await;
    let wrong = encrypted(&store, &[TestKey(1, 9)]);
    let message = corrupt("wrong key", read_changes(&wrong, "t", 4).await).to_string();
    assert!(message.contains("or key 1 has another secret than the one that encrypted it"), "{message}");
    let listed = wrong.threads(ThreadQuery::default()).await.unwrap().items;
    assert!(listed.iter().all(|thread| thread.head.is_err()) && listed.len() == 1);
    // Of two keys with one number the first is used.
    assert!(read_changes(&encrypted(&store, &[FIRST, TestKey(1, 9)]), "t", 4).await.is_ok());
    corrupt("wrong key", read_changes(&encrypted(&store, &[TestKey(1, 9), FIRST]), "t", 4).await);
}

#[tokio::test]
async fn unencrypted_thread_is_refused() {
    let store = MemoryCheckpointer::new();
    write(&store, "t").await;
    let message = corrupt("plain", read_changes(&encrypted(&store, &[FIRST]), "t", 4).await).to_string();
    assert!(message.ends_with("it is not encrypted"), "{message}");
}

#[tokio::test]
async fn every_payload_is_sealed_under_its_own_nonce() {
    let store = MemoryCheckpointer::new();
    write(&encrypted(&store, &[FIRST]), "t").await;
    write(&encrypted(&store, &[FIRST]), "twin").await;
    let mut all = Vec::new();
    for thread in ["t", "twin"] {
        let found = store.get(thread, "", None).await.unwrap().found.unwrap();
        all.extend(found.fields.into_iter().flat_map(|field| field.changes).map(|change| change.payload));
        all.extend(found.records.into_iter().map(|record| record.payload));
        all.extend(found.checkpoint.progress);
    }
    assert_eq!(all.len(), 2 * (10 + 4 + 1));
    for (index, payload) in all.iter().enumerate() {
        assert_eq!(payload.encoding(), Encoding::Sealed);
        assert!(!payload.bytes().windows(8).any(|part| part == b"progress" || part == b"Finished"));
        assert!(
            all.iter().skip(index + 1).all(|other| other.bytes()[5..29] != payload.bytes()[5..29]),
            "nonces"
        );
    }
}

#[test]
fn debug_shows_no_secret() {
    let store = encrypted(&MemoryCheckpointer::new(), &[SECOND, FIRST]);
    let text = format!("{store:?}");
    assert_eq!(text, "EncryptedCheckpointer { keys: Keys { current: Key(2), old: [Key(1)] }, .. }");
}
