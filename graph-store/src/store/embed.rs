use std::error::Error;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

/// The future that a call to a model returns. It can fail with any error.
pub type EmbedFuture<'a, T> =
    Pin<Box<dyn Future<Output = Result<T, Box<dyn Error + Send + Sync>>> + Send + 'a>>;

/// An embedding model: turns strings into vectors that are near to each other if the strings have a similar meaning.
///
/// ```
/// use superstep::store::{Embed, EmbedFuture};
///
/// /// Counts letters. A real model captures the meaning.
/// struct Letters;
///
/// impl Embed for Letters {
///     fn model(&self) -> &str {
///         "letters"
///     }
///
///     fn embed(&self, texts: Vec<String>) -> EmbedFuture<'_, Vec<Vec<f32>>> {
///         let count = |text: &String| ('a'..='z').map(|letter| text.matches(letter).count() as f32).collect();
///         Box::pin(async move { Ok(texts.iter().map(count).collect()) })
///     }
/// }
/// ```
pub trait Embed: Send + Sync + 'static {
    /// Returns the name of the model.
    ///
    /// The name is stored with each vector. Vectors of different models are never compared.
    fn model(&self) -> &str;

    /// Returns one vector for each string, in their order. All vectors have the same length.
    ///
    /// # Errors
    /// Any error of the model.
    fn embed(&self, texts: Vec<String>) -> EmbedFuture<'_, Vec<Vec<f32>>>;

    /// Returns the vector of a query.
    ///
    /// Override this method for models that embed queries differently from stored strings.
    ///
    /// # Errors
    /// Any error of the model.
    fn embed_query(&self, query: String) -> EmbedFuture<'_, Vec<f32>> {
        Box::pin(async move {
            let mut vectors = self.embed(vec![query]).await?;
            Ok(vectors.pop().unwrap_or_default())
        })
    }
}

impl<E: Embed + ?Sized> Embed for Arc<E> {
    fn model(&self) -> &str {
        E::model(self)
    }

    fn embed(&self, texts: Vec<String>) -> EmbedFuture<'_, Vec<Vec<f32>>> {
        E::embed(self, texts)
    }

    fn embed_query(&self, query: String) -> EmbedFuture<'_, Vec<f32>> {
        E::embed_query(self, query)
    }
}
