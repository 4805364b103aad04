use std::fmt::Display;

use superstep_store::checkpoint::{
    CheckpointId, CheckpointQuery, Checkpointer, Fence, StoredCheckpoint, StoredStatus,
};

use crate::Broken;
use crate::expect::{Expect as _, holds, same};

/// The complete contents of some namespaces of a thread.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ThreadContents {
    pub(crate) namespaces: Vec<Namespace>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Namespace {
    pub(crate) name: String,
    pub(crate) fence: Fence,
    pub(crate) status: StoredStatus,
    pub(crate) origin: Option<String>,
    /// Newest first.
    pub(crate) checkpoints: Vec<StoredCheckpoint>,
}

impl ThreadContents {
    pub(crate) async fn read(
        store: &dyn Checkpointer,
        thread: &str,
        namespaces: &[&str],
    ) -> Result<Self, Broken> {
        let mut all = Vec::new();
        for name in namespaces {
            let loaded = store.get(thread, name, None).await.works("a namespace can be read")?;
            let mut checkpoints: Vec<StoredCheckpoint> = Vec::new();
            for id in ids(store, query(thread, name)).await? {
                let found =
                    store.get(thread, name, Some(id)).await.works("a listed checkpoint can be read")?.found;
                let Some(mut found) = found else {
                    return Err(Broken::new(
                        "a listed checkpoint is found",
                        format!("checkpoint {id}"),
                        "nothing",
                    ));
                };
                found.fields.sort_by(|a, b| a.field.cmp(&b.field));
                checkpoints.push(found);
            }
            let origin = loaded.origin.as_deref().map(str::to_owned);
            let (fence, status) = (loaded.fence, loaded.status);
            all.push(Namespace { name: (*name).to_owned(), fence, status, origin, checkpoints });
        }
        Ok(Self { namespaces: all })
    }

    /// Checks that the contents are equal. Reports the first difference.
    pub(crate) fn expect_equal(&self, expected: &Self, promise: impl Display) -> Result<(), Broken> {
        for (expected, found) in expected.namespaces.iter().zip(&self.namespaces) {
            let at = |what: &str| format!("{promise}: {what} of namespace `{}`", expected.name);
            same(at("epoch and head"), expected.fence, found.fence)?;
            same(at("status"), expected.status, found.status)?;
            same(at("origin"), &expected.origin, &found.origin)?;
            same(at("the checkpoints"), expected.ids(), found.ids())?;
            for (expected, found) in expected.checkpoints.iter().zip(&found.checkpoints) {
                let id = expected.checkpoint.id;
                same(at(&format!("checkpoint {id}")), &expected.checkpoint, &found.checkpoint)?;
                same(at(&format!("records at {id}")), &expected.records, &found.records)?;
                let names = |stored: &StoredCheckpoint| -> Vec<String> {
                    stored.fields.iter().map(|field| field.field.clone()).collect()
                };
                same(at(&format!("the fields at {id}")), names(expected), names(found))?;
                for (expected, found) in expected.fields.iter().zip(&found.fields) {
                    let what = format!("field `{}` at {id}", expected.field);
                    same(
                        at(&what),
                        crate::shorthand::format_field(expected),
                        crate::shorthand::format_field(found),
                    )?;
                    same(at(&what), expected, found)?;
                }
            }
        }
        same(promise, expected, self)
    }
}

impl Namespace {
    fn ids(&self) -> Vec<CheckpointId> {
        self.checkpoints.iter().map(|stored| stored.checkpoint.id).collect()
    }
}

/// Returns a query for all checkpoints of a namespace.
pub(crate) fn query(thread: &str, namespace: &str) -> CheckpointQuery {
    CheckpointQuery::new(thread).namespace(namespace)
}

/// Returns the ids of all pages of a query.
pub(crate) async fn ids(
    store: &dyn Checkpointer,
    mut query: CheckpointQuery,
) -> Result<Vec<CheckpointId>, Broken> {
    let mut ids: Vec<CheckpointId> = Vec::new();
    loop {
        let limit = query.limit;
        let page = store.list(query.clone()).await.works("checkpoints can be listed")?;
        holds(
            "a page has at most `limit` items",
            limit.is_none_or(|limit| page.items.len() <= limit),
            limit,
        )?;
        ids.extend(page.items.iter().map(|checkpoint| checkpoint.id));
        if !page.more {
            let newest_first = ids.is_sorted_by(|a, b| a > b);
            holds("checkpoints are listed newest first, each once", newest_first, &ids)?;
            return Ok(ids);
        }
        holds("a page with `more` is not empty", !page.items.is_empty(), &query)?;
        query.before = ids.last().copied();
    }
}
