use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use crate::ChatModel;

use super::Answer;

/// A provider of a model under test.
pub trait TestProvider: Send + Sync + 'static {
    /// Starts a provider that gives this answer to every request, and a model that asks it.
    ///
    /// Returns `None` if the provider's protocol has no such answer, which skips the case.
    fn start(&self, answer: Answer) -> impl Future<Output = Option<TestModel>> + Send;
}

/// A model under test, and the provider's view of its connection.
///
/// The provider stops when this value is dropped, or earlier if it is no longer needed.
pub struct TestModel {
    pub(super) model: Arc<dyn ChatModel>,
    pub(super) received: Option<BoxFuture<'static, bool>>,
    pub(super) disconnected: Option<BoxFuture<'static, bool>>,
}

type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

impl TestModel {
    /// Creates a model that has no connection.
    pub fn new(model: Arc<dyn ChatModel>) -> Self {
        Self { model, received: None, disconnected: None }
    }

    /// Sets the provider's view of the connection.
    ///
    /// - `received` waits until the provider has received a request.
    /// - `disconnected` waits until the model has closed the connection of a [silent](super::Delivery::Silence) answer.
    ///
    /// Both return `false` if this takes too long.
    pub fn connection(
        self,
        received: impl Future<Output = bool> + Send + 'static,
        disconnected: impl Future<Output = bool> + Send + 'static,
    ) -> Self {
        Self { received: Some(Box::pin(received)), disconnected: Some(Box::pin(disconnected)), ..self }
    }
}

impl fmt::Debug for TestModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TestModel").field("model", &self.model.name()).finish_non_exhaustive()
    }
}

/// A type-erased [`TestProvider`], so that the cases are compiled once.
pub(super) trait AnyTestProvider: Send + Sync {
    fn start_any(&self, answer: Answer) -> BoxFuture<'_, Option<TestModel>>;
}

impl<P: TestProvider> AnyTestProvider for P {
    fn start_any(&self, answer: Answer) -> BoxFuture<'_, Option<TestModel>> {
        Box::pin(self.start(answer))
    }
}
