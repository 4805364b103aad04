use std::error::Error;
use std::fmt;
use std::sync::Arc;

use serde_json::value::RawValue;

use crate::payload::{Encoding, Payload};

use super::field_path::{list, raw, text};
use super::{Embed, Embedding, FieldPath, ItemKey, Near, StoreError};

/// What makes items be found by their meaning: a model, and the fields whose texts it is given.
///
/// A store compares the vector of a search with that of *each* item in the namespace: exact, and as much work as there are
/// items, about two nanoseconds for each number of each vector. Up to some ten thousand items that is a matter of tens of
/// milliseconds; for more, search narrower namespaces, or implement [`Store`](super::Store) over a database of vectors.
///
/// Items that were put before there was an index, or whose fields hold no text, are found by no meaning; put them again.
#[derive(Clone)]
pub struct Index {
    embed: Arc<dyn Embed>,
    fields: Arc<[FieldPath]>,
}

impl Index {
    /// An index over whole values, as JSON; of a value that is a text, over that text.
    pub fn new(embed: impl Embed) -> Self {
        Self { embed: Arc::new(embed), fields: Arc::from([FieldPath::whole()]) }
    }

    /// Over these fields only. A text is taken as it is; of a list, each item by itself; anything else as JSON; null and what
    /// is not there give nothing.
    #[must_use]
    pub fn fields<F: Into<FieldPath>>(self, fields: impl IntoIterator<Item = F>) -> Self {
        Self { fields: fields.into_iter().map(Into::into).collect(), ..self }
    }

    /// What the model is given of a value.
    pub(super) fn texts(
        &self,
        at: &ItemKey,
        value: &Payload,
        fields: Option<&[FieldPath]>,
    ) -> Result<Vec<String>, StoreError> {
        let mut texts = Vec::new();
        if value.encoding() == Encoding::Json {
            for field in fields.unwrap_or(&self.fields) {
                add(value, field, &mut texts).map_err(|reason| StoreError::NotStorable {
                    namespace: at.namespace.clone(),
                    key: Arc::clone(&at.key),
                    reason: format!("cannot be indexed: {reason}"),
                })?;
            }
        }
        Ok(texts)
    }

    /// The embeddings of several items, each of which has as many texts as are said, in one call of the model.
    pub(super) async fn embed(&self, texts: Vec<Vec<String>>) -> Result<Vec<Option<Embedding>>, StoreError> {
        let counts: Vec<usize> = texts.iter().map(Vec::len).collect();
        let asked: usize = counts.iter().sum();
        if asked == 0 {
            return Ok(counts.iter().map(|_| None).collect());
        }
        let vectors = self.embed.embed(texts.into_iter().flatten().collect()).await;
        let vectors = vectors.map_err(|error| self.failed(error))?;
        if vectors.len() != asked {
            let told = format!("it was given {asked} texts, and gave {} vectors", vectors.len());
            return Err(self.failed(told.into()));
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

    /// What a search by meaning looks for.
    pub(super) async fn near(&self, query: String) -> Result<Near, StoreError> {
        let vector = self.embed.embed_query(query).await.map_err(|error| self.failed(error))?;
        Near::new(self.embed.model(), vector).map_err(|error| self.failed(error.into()))
    }

    fn failed(&self, source: Box<dyn Error + Send + Sync>) -> StoreError {
        StoreError::Embed { model: self.embed.model().to_owned(), source }
    }
}

fn add(value: &Payload, field: &FieldPath, texts: &mut Vec<String>) -> Result<(), String> {
    let json = std::str::from_utf8(value.bytes()).map_err(|_| "it is not UTF-8".to_owned())?;
    match field.find(raw(json)?)? {
        Some(found) if found.get().starts_with('[') => {
            for item in list(found)? {
                texts.extend(shown(item)?);
            }
        }
        Some(found) => texts.extend(shown(found)?),
        None => {}
    }
    Ok(())
}

/// What a model is given of a value; models are asked about no empty text.
fn shown(json: &RawValue) -> Result<Option<String>, String> {
    let shown = match json.get() {
        "null" => return Ok(None),
        found if found.starts_with('"') => text(json)?,
        found => found.to_owned(),
    };
    Ok(Some(shown).filter(|text| !text.trim().is_empty()))
}

impl fmt::Debug for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Index").field("model", &self.embed.model()).field("fields", &self.fields).finish()
    }
}
