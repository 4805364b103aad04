use std::pin::Pin;
use std::sync::Arc;

use super::{AuthError, AuthRequest, Identity};

/// Recognizes the caller of a request. See [`Server::authenticate`](crate::Server::authenticate).
///
/// Functions `async fn(AuthRequest) -> Result<Identity, AuthError>` and closures of this kind implement it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot recognize callers",
    label = "expected `async |request: AuthRequest| -> Result<Identity, AuthError> {{ .. }}`"
)]
pub trait Authenticate: Send + Sync + 'static {
    /// Returns the caller of a request.
    ///
    /// # Errors
    /// The request is refused.
    ///
    /// # Cancel safety
    /// The call is dropped when the client disconnects.
    fn authenticate(&self, request: AuthRequest) -> impl Future<Output = Result<Identity, AuthError>> + Send;
}

impl<F, R> Authenticate for F
where
    F: Fn(AuthRequest) -> R + Send + Sync + 'static,
    R: Future<Output = Result<Identity, AuthError>> + Send,
{
    fn authenticate(&self, request: AuthRequest) -> impl Future<Output = Result<Identity, AuthError>> + Send {
        self(request)
    }
}

type Recognizing<'a> = Pin<Box<dyn Future<Output = Result<Identity, AuthError>> + Send + 'a>>;

/// An [`Authenticate`] without its type.
pub(crate) trait AnyAuthenticate: Send + Sync {
    /// Returns the caller of a request.
    fn authenticate(&self, request: AuthRequest) -> Recognizing<'_>;
}

struct Erased<A>(A);

impl<A: Authenticate> AnyAuthenticate for Erased<A> {
    fn authenticate(&self, request: AuthRequest) -> Recognizing<'_> {
        Box::pin(self.0.authenticate(request))
    }
}

pub(crate) fn erased(hook: impl Authenticate) -> Arc<dyn AnyAuthenticate> {
    Arc::new(Erased(hook))
}
