use std::error::Error;
use std::fmt;
use std::sync::Arc;

use serde_json::value::RawValue;

use crate::payload::{Encoding, Payload};

use super::field_path::{array, parse, string};
use super::{Embed, Embedding, FieldPath, ItemKey, Near, StoreError};

/// An index for semantic search: an embedding model and the fields that it embeds.
///
/// A search compares its vector with the vectors of *every* item in the namespace. The result is exact, and the cost
/// is linear: about two nanoseconds for each component of each vector. For some ten thousand items that is tens of
/// milliseconds. For more items, search narrower namespaces, or implement [`Store`](super::Store) with a vector
/// database.
///
/// A semantic search does not find items that were put before the store had an index, or whose indexed fields are
/// empty. Put such items again.
#[derive(Clone)]
pub struct Index {
    embed: Arc<dyn Embed>,
    fields: Arc<[FieldPath]>,
}

impl Index {
    /// Creates an index over whole values. A string is embedded as it is, and any other value as JSON.
    pub fn new(embed: impl Embed) -> Self {
        Self { embed: Arc::new(embed), fields: Arc::from([FieldPath::whole()]) }
    }

    /// Indexes only these fields.
    ///
    /// - A string is embedded as it is.
    /// - Each item of a list is embedded separately.
    /// - Null and missing fields are not embedded.
    /// - Any other value is embedded as JSON.
    #[must_use]
    pub fn fields<F: Into<FieldPath>>(self, fields: impl IntoIterator<Item = F>) -> Self {
        Self { fields: fields.into_iter().map(Into::into).collect(), ..self }
    }

    /// Returns the strings of a value to embed.
    pub(super) fn texts(
        &self,
        at: &ItemKey,
        value: &Payload,
        fields: Option<&[FieldPath]>,
    ) -> Result<Vec<String>, StoreError> {
        let mut texts = Vec::new();
        if value.encoding() == Encoding::Json {
            for field in fields.unwrap_or(&self.fields) {
                collect(value, field, &mut texts).map_err(|reason| {
                    let reason = format!("cannot be indexed: {reason}");
                    StoreError::not_storable(at.namespace.clone(), Arc::clone(&at.key), reason)
                })?;
            }
        }
        Ok(texts)
    }

    /// Embeds the strings of several items in one call of the model. An item without strings has no embedding.
    pub(super) async fn embed(&self, texts: Vec<Vec<String>>) -> Result<Vec<Option<Embedding>>, StoreError> {
        let counts: Vec<usize> = texts.iter().map(Vec::len).collect();
        let total: usize = counts.iter().sum();
        if total == 0 {
            return Ok(counts.iter().map(|_| None).collect());
        }
        let vectors = self.embed.embed(texts.into_iter().flatten().collect()).await;
        let vectors = vectors.map_err(|error| self.failed(error))?;
        if vectors.len() != total {
            let message = format!("it returned {} vectors for {total} strings", vectors.len());
            return Err(self.failed(message.into()));
        }
        let mut vectors = vectors.into_iter();
        let mut embeddings = Vec::with_capacity(counts.len());
        for count in counts {
            let own: Vec<_> = vectors.by_ref().take(count).collect();
            embeddings.push(match own.is_empty() {
                true => None,
                false => {
                    Some(Embedding::new(self.embed.model(), own).map_err(|error| self.failed(error.into()))?)
                }
            });
        }
        Ok(embeddings)
    }

    /// Embeds the query of a semantic search.
    pub(super) async fn near(&self, query: String) -> Result<Near, StoreError> {
        let vector = self.embed.embed_query(query).await.map_err(|error| self.failed(error))?;
        Near::new(self.embed.model(), vector).map_err(|error| self.failed(error.into()))
    }

    fn failed(&self, source: Box<dyn Error + Send + Sync>) -> StoreError {
        StoreError::embed(self.embed.model(), source)
    }
}

fn collect(value: &Payload, field: &FieldPath, texts: &mut Vec<String>) -> Result<(), String> {
    let json = std::str::from_utf8(value.bytes()).map_err(|_| "it is not UTF-8".to_owned())?;
    match field.find(parse(json)?)? {
        Some(found) if found.get().starts_with('[') => {
            for item in array(found)? {
                texts.extend(text_of(item)?);
            }
        }
        Some(found) => texts.extend(text_of(found)?),
        None => {}
    }
    Ok(())
}

/// Returns the string to embed for a value. Blank strings are not embedded.
fn text_of(json: &RawValue) -> Result<Option<String>, String> {
    let text = match json.get() {
        "null" => return Ok(None),
        found if found.starts_with('"') => string(json)?,
        found => found.to_owned(),
    };
    Ok(Some(text).filter(|text| !text.trim().is_empty()))
}

impl fmt::Debug for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Index").field("model", &self.embed.model()).field("fields", &self.fields).finish()
    }
}
