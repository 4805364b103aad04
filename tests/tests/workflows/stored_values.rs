//! Inputs, results and saved values of a workflow round-trip through a store, or are refused.

use std::collections::BTreeMap;

use serde::de::{Error as _, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use superstep::workflow::{Final, Workflow};
use superstep::{ErrorKind, NodeError, Result};

use super::stores::on_every_store;

/// Serializes as bytes, which JSON does not have.
#[derive(Clone, Debug, PartialEq)]
struct Blob(Vec<u8>);

impl Serialize for Blob {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Blob {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bytes;

        impl<'de> Visitor<'de> for Bytes {
            type Value = Blob;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("bytes")
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Blob, E> {
                Ok(Blob(bytes.to_vec()))
            }

            fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut bytes: A) -> Result<Blob, A::Error> {
                let mut blob = Vec::new();
                while let Some(byte) = bytes.next_element()? {
                    blob.push(byte);
                }
                if blob.is_empty() { Err(A::Error::custom("no bytes")) } else { Ok(Blob(blob)) }
            }
        }

        deserializer.deserialize_bytes(Bytes)
    }
}

async fn append(blob: &Blob, previous: Option<&Blob>) -> Result<Final<usize, Blob>> {
    let bytes: Vec<u8> = previous.into_iter().chain([blob]).flat_map(|blob| blob.0.clone()).collect();
    Ok(Final { value: bytes.len(), save: Blob(bytes) })
}

#[tokio::test]
async fn bytes_round_trip() {
    on_every_store(async |store| {
        let graph = Workflow::new(append).compile().unwrap();
        let run = async |bytes: &[u8]| {
            store.thread(&graph).run(Blob(bytes.to_vec())).await.unwrap().value().unwrap()
        };
        assert_eq!([run(&[0, 255]).await, run(&[7]).await], [2, 3]);
        let state = store.thread(&graph).state().await.unwrap().unwrap().state.unwrap();
        assert_eq!(state.previous(), Some(&Blob(vec![0, 255, 7])));
    })
    .await;
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
enum Tree {
    #[default]
    Leaf,
    Node {
        left: Box<Tree>,
        names: BTreeMap<u64, Option<String>>,
    },
}

async fn grow(name: &Option<String>, previous: Option<&Tree>) -> Result<Tree> {
    let left = Box::new(previous.cloned().unwrap_or_default());
    Ok(Tree::Node { left, names: BTreeMap::from([(u64::MAX, name.clone())]) })
}

#[tokio::test]
async fn nested_values_round_trip() {
    on_every_store(async |store| {
        let graph = Workflow::new(grow).compile().unwrap();
        store.thread(&graph).run(None).await.unwrap();
        let tree = store.thread(&graph).run(Some("ann".to_owned())).await.unwrap().value().unwrap();
        let Tree::Node { left, names } = &tree else { panic!("a leaf") };
        assert_eq!(names[&u64::MAX].as_deref(), Some("ann"));
        assert!(matches!(&**left, Tree::Node { left, .. } if **left == Tree::Leaf));
        let state = store.thread(&graph).state().await.unwrap().unwrap().state.unwrap();
        assert_eq!(state.value(), Some(&tree));
    })
    .await;
}

async fn half(number: &f64, previous: Option<&f64>) -> Result<f64> {
    match (*number, previous) {
        (0.0, _) => Ok(f64::NAN),
        (number, _) if number > 0.0 => Ok(number / 2.0),
        (_, Some(previous)) => Ok(previous / 2.0),
        (_, None) => Err(NodeError::msg("nothing to halve")),
    }
}

#[tokio::test]
async fn value_without_json_form_is_refused_without_loss() {
    on_every_store(async |store| {
        let graph = Workflow::new(half).compile().unwrap();
        store.thread(&graph).run(3.0).await.unwrap();
        let error = store.thread(&graph).run(0.0).await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::NotStorable { .. }), "{error:?}");
        assert!(format!("{error:?}").contains("value"), "{error:?}");
        let error = store.thread(&graph).run(f64::INFINITY).abandon_pending().await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::NotStorable { .. }), "{error:?}");
        let halved = store.thread(&graph).run(-1.0).abandon_pending().await.unwrap();
        assert_eq!(halved.value().unwrap(), 0.75);
    })
    .await;
}
