use superstep::store::Batch;

use crate::protocol::{AssistantFilter, AssistantId, AssistantSort, Object, SortOrder, Timestamp};

use super::pattern::{conditions, equals};
use super::{AssistantRecord, AssistantVersion, Created, Records, Scan, Stored, contains, keys};
use crate::auth::Identity;

/// The result of a change to an assistant.
#[derive(Debug)]
pub(crate) enum Latest {
    /// The assistant as it is now.
    Set(AssistantRecord),
    /// The assistant has no such version.
    NoVersion,
    /// The assistant does not exist.
    NoAssistant,
}

impl Records {
    /// Returns an assistant.
    ///
    /// # Errors
    /// The store fails.
    pub(crate) async fn assistant(&self, id: AssistantId) -> Stored<Option<AssistantRecord>> {
        Ok(self.any_assistant(id).await?.filter(|assistant| self.sees_assistant(assistant)))
    }

    async fn any_assistant(&self, id: AssistantId) -> Stored<Option<AssistantRecord>> {
        self.of(keys::assistants()).get(id.to_string()).await
    }

    /// Returns `true` if the caller sees an assistant. All see those without an owner.
    fn sees_assistant(&self, assistant: &AssistantRecord) -> bool {
        assistant.user_id.is_none() || self.sees(assistant.user_id.as_deref())
    }

    /// Returns `true` if the caller may change an assistant.
    pub(crate) fn may_change(&self, assistant: &AssistantRecord) -> bool {
        self.sees(assistant.user_id.as_deref())
    }

    /// Stores a new assistant. It belongs to the caller; that of the server itself and of an operator is shared by all.
    ///
    /// # Errors
    /// The store fails.
    ///
    /// # Cancel safety
    /// The assistant is stored as a whole or not at all.
    pub(crate) async fn create_assistant(
        &self,
        mut assistant: AssistantRecord,
    ) -> Stored<Created<AssistantRecord>> {
        let _locked = self.assistants.lock(assistant.assistant_id).await;
        match self.any_assistant(assistant.assistant_id).await? {
            Some(existing) if self.sees_assistant(&existing) => Ok(Created::Existing(existing)),
            Some(_) => Ok(Created::Taken),
            None => {
                assistant.user_id = self.restricted().map(Identity::shared_id);
                self.put_version(self.put_assistant(self.batch(), &assistant), &assistant).await?;
                Ok(Created::New(assistant))
            }
        }
    }

    /// Makes a new version of an assistant. Returns `None` if it does not exist.
    ///
    /// # Errors
    /// The store fails.
    ///
    /// # Cancel safety
    /// The change is stored as a whole or not at all.
    pub(crate) async fn change_assistant(
        &self,
        id: AssistantId,
        change: impl FnOnce(&mut AssistantRecord),
    ) -> Stored<Option<AssistantRecord>> {
        let _locked = self.assistants.lock(id).await;
        let Some(mut assistant) = self.assistant(id).await? else { return Ok(None) };
        // The version in use may be an older one.
        let newest = self.versions(id, &Object::new(), 0, 1).await?;
        let newest = newest.first().map_or(assistant.version, |version| version.version);
        change(&mut assistant);
        assistant.version = newest.max(assistant.version) + 1;
        assistant.updated_at = Timestamp::now().max(assistant.updated_at);
        self.put_version(self.put_assistant(self.batch(), &assistant), &assistant).await?;
        Ok(Some(assistant))
    }

    /// Makes an assistant have one of its versions.
    ///
    /// # Errors
    /// The store fails.
    ///
    /// # Cancel safety
    /// The change is stored as a whole or not at all.
    pub(crate) async fn set_latest(&self, id: AssistantId, version: u64) -> Stored<Latest> {
        let _locked = self.assistants.lock(id).await;
        let Some(mut assistant) = self.assistant(id).await? else { return Ok(Latest::NoAssistant) };
        let found = self.of::<AssistantVersion>(keys::versions(id)).get(keys::version(version)).await?;
        let Some(version) = found else { return Ok(Latest::NoVersion) };
        version.restore(&mut assistant);
        assistant.updated_at = Timestamp::now().max(assistant.updated_at);
        self.put_assistant(self.batch(), &assistant).await?;
        Ok(Latest::Set(assistant))
    }

    /// Deletes an assistant and its versions. Returns `false` if it does not exist.
    ///
    /// # Errors
    /// The store fails.
    ///
    /// # Cancel safety
    /// The assistant is deleted as a whole or not at all.
    pub(crate) async fn delete_assistant(&self, id: AssistantId) -> Stored<bool> {
        let _locked = self.assistants.lock(id).await;
        let Some(assistant) = self.assistant(id).await? else { return Ok(false) };
        let mut batch = self.batch().delete(keys::assistants(), id.to_string());
        batch = batch.delete(keys::assistants_by_creation(), keys::newest_first(assistant.created_at, id));
        let mut scan = Scan::<AssistantVersion>::new(&self.store, keys::versions(id), Vec::new(), usize::MAX);
        loop {
            let versions = scan.next().await?;
            if versions.is_empty() {
                break;
            }
            for version in versions {
                batch = batch.delete(keys::versions(id), keys::version(version.version));
            }
        }
        batch.await?;
        Ok(true)
    }

    /// Returns versions of an assistant, newest first.
    ///
    /// # Errors
    /// The store fails, or the metadata cannot be compared.
    pub(crate) async fn versions(
        &self,
        id: AssistantId,
        metadata: &Object,
        offset: usize,
        limit: usize,
    ) -> Stored<Vec<AssistantVersion>> {
        let conditions = conditions(&["metadata"], metadata)?;
        let scan = Scan::<AssistantVersion>::new(&self.store, keys::versions(id), conditions, offset + limit);
        let metadata = metadata.clone().into();
        let found =
            take(scan, offset + limit, |version| contains(&version.metadata.clone().into(), &metadata));
        Ok(found.await?.into_iter().skip(offset).collect())
    }

    /// Returns the first `needed` assistants that match a filter, in an order.
    ///
    /// By the time of creation, newest first, a search reads as far as needed. Every other order, and a filter by name, read
    /// all matching assistants.
    ///
    /// # Errors
    /// The store fails, or the filter cannot be compared.
    pub(crate) async fn assistants(
        &self,
        filter: &AssistantFilter,
        sort: (AssistantSort, SortOrder),
        needed: usize,
    ) -> Stored<Vec<AssistantRecord>> {
        let mut conditions = conditions(&["metadata"], &filter.metadata)?;
        if let Some(graph) = &filter.graph_id {
            conditions.push(equals("graph_id", graph)?);
        }
        let metadata = filter.metadata.clone().into();
        let name = filter.name.as_ref().map(|name| name.to_lowercase());
        let accept = |assistant: &AssistantRecord| {
            self.sees_assistant(assistant)
                && name.as_ref().is_none_or(|name| assistant.name.to_lowercase().contains(name))
                && contains(&assistant.metadata.clone().into(), &metadata)
        };
        if sort == (AssistantSort::CreatedAt, SortOrder::Descending) {
            let scan = Scan::new(&self.store, keys::assistants_by_creation(), conditions, needed);
            return take(scan, needed, accept).await;
        }
        let scan = Scan::new(&self.store, keys::assistants(), conditions, usize::MAX);
        let mut all: Vec<AssistantRecord> = take(scan, usize::MAX, accept).await?;
        all.sort_by(|a, b| {
            let order = match sort.0 {
                AssistantSort::AssistantId => a.assistant_id.cmp(&b.assistant_id),
                AssistantSort::GraphId => a.graph_id.cmp(&b.graph_id),
                AssistantSort::Name => a.name.cmp(&b.name),
                AssistantSort::CreatedAt => a.created_at.cmp(&b.created_at),
                AssistantSort::UpdatedAt => a.updated_at.cmp(&b.updated_at),
            };
            let order = if sort.1 == SortOrder::Descending { order.reverse() } else { order };
            order.then(a.assistant_id.cmp(&b.assistant_id))
        });
        all.truncate(needed);
        Ok(all)
    }

    fn put_assistant(&self, batch: Batch, assistant: &AssistantRecord) -> Batch {
        let id = assistant.assistant_id;
        let listed = keys::newest_first(assistant.created_at, id);
        batch.put(self.put(keys::assistants(), &id.to_string(), assistant)).put(self.put(
            keys::assistants_by_creation(),
            &listed,
            assistant,
        ))
    }

    fn put_version(&self, batch: Batch, assistant: &AssistantRecord) -> Batch {
        let version = AssistantVersion::of(assistant);
        let key = keys::version(version.version);
        batch.put(self.put(keys::versions(assistant.assistant_id), &key, &version))
    }
}

/// Returns the first `needed` records of a scan that are accepted.
async fn take<T: serde::Serialize + serde::de::DeserializeOwned>(
    mut scan: Scan<T>,
    needed: usize,
    accept: impl Fn(&T) -> bool,
) -> Stored<Vec<T>> {
    let mut taken = Vec::new();
    while taken.len() < needed {
        let batch = scan.next().await?;
        if batch.is_empty() {
            break;
        }
        taken.extend(batch.into_iter().filter(&accept));
    }
    taken.truncate(needed);
    Ok(taken)
}
