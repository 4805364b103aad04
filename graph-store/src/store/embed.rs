use std::error::Error;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

/// The future that a call of a model returns; it can fail with any error.
pub type EmbedFuture<'a, T> =
    Pin<Box<dyn Future<Output = Result<T, Box<dyn Error + Send + Sync>>> + Send + 'a>>;

/// A model that turns texts into vectors which are near to each other where the texts mean the same.
///
/// ```
/// use superstep::store::{Embed, EmbedFuture};
///
/// /// How often each letter is in a text: what it means to somebody who cannot read.
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
    /// The model's name, which is kept with what it has made: vectors of two models are never compared.
    fn model(&self) -> &str;

    /// The vectors of these texts, one for each, in their order and all of one length.
    ///
    /// # Errors
    /// Whatever the model fails with.
    fn embed(&self, texts: Vec<String>) -> EmbedFuture<'_, Vec<Vec<f32>>>;

    /// The vector of what is searched for, with a model that makes another one of a question than of a text.
    ///
    /// # Errors
    /// Whatever the model fails with.
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
