use super::{FIRST, MadeOf, batch, corrupt, encrypted, line, write};
use crate::checkpoint::{CheckpointQuery, Checkpointer, MemoryCheckpointer, ThreadQuery};
use crate::payload::Encoding;

const SECOND: MadeOf = MadeOf(2, 8);

#[tokio::test]
async fn after_a_rotation_old_values_are_read_and_new_ones_written_under_the_new_key() {
    let store = MemoryCheckpointer::new();
    write(&encrypted(&store, &[FIRST]), "t").await;
    let both = encrypted(&store, &[SECOND, FIRST]);
    let before = line(&both, "t", 4).await.unwrap();
    both.commit(batch("t", 5, "list+new")).await.unwrap();
    assert_eq!(line(&both, "t", 5).await.unwrap(), before.replace("list+g", "list+g list+new"));

    // Whoever has but the old key cannot read what is new, and the other way round.
    let old = corrupt("old", line(&encrypted(&store, &[FIRST]), "t", 5).await).to_string();
    assert!(old.ends_with("it is encrypted under key 2, which is not there"), "{old}");
    let new = corrupt("new", line(&encrypted(&store, &[SECOND]), "t", 5).await).to_string();
    assert!(new.ends_with("it is encrypted under key 1, which is not there"), "{new}");

    // Once nothing is left of its time the old key is not needed.
    both.commit(batch("t", 6, "n=3 list=all twin=3 other=3")).await.unwrap();
    let second = encrypted(&store, &[SECOND]);
    assert_eq!(line(&second, "t", 6).await.unwrap(), "list=all n=3 other=3 twin=3");
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
async fn another_secret_under_the_same_number_reads_nothing() {
    let store = MemoryCheckpointer::new();
    write(&encrypted(&store, &[FIRST]), "t").await;
    let wrong = encrypted(&store, &[MadeOf(1, 9)]);
    let told = corrupt("wrong key", line(&wrong, "t", 4).await).to_string();
    assert!(told.contains("or key 1 is another one than it was written with"), "{told}");
    let listed = wrong.threads(ThreadQuery::default()).await.unwrap().items;
    assert!(listed.iter().all(|thread| thread.head.is_err()) && listed.len() == 1);
    // Of two with one number the first counts.
    assert!(line(&encrypted(&store, &[FIRST, MadeOf(1, 9)]), "t", 4).await.is_ok());
    corrupt("wrong key", line(&encrypted(&store, &[MadeOf(1, 9), FIRST]), "t", 4).await);
}

#[tokio::test]
async fn a_thread_from_before_encryption_is_refused() {
    let store = MemoryCheckpointer::new();
    write(&store, "t").await;
    let told = corrupt("plain", line(&encrypted(&store, &[FIRST]), "t", 4).await).to_string();
    assert!(told.ends_with("it is not encrypted"), "{told}");
}

#[tokio::test]
async fn every_payload_in_the_store_is_sealed_and_no_two_are_alike() {
    let store = MemoryCheckpointer::new();
    write(&encrypted(&store, &[FIRST]), "t").await;
    write(&encrypted(&store, &[FIRST]), "twin").await;
    let mut all = Vec::new();
    for thread in ["t", "twin"] {
        let found = store.get(thread, "", None).await.unwrap().found.unwrap();
        all.extend(found.fields.into_iter().flat_map(|field| field.changes).map(|piece| piece.payload));
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
fn no_secret_is_in_a_debug() {
    let store = encrypted(&MemoryCheckpointer::new(), &[SECOND, FIRST]);
    let text = format!("{store:?}");
    assert_eq!(text, "EncryptedCheckpointer { keys: Keys { current: Key(2), old: [Key(1)] }, .. }");
}
