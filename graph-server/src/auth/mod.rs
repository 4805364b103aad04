//! Who sends a request, and what this caller may see.

mod api_key;
mod auth_error;
mod auth_request;
mod authenticate;
mod identity;

pub use auth_error::AuthError;
pub use auth_request::AuthRequest;
pub use authenticate::Authenticate;
pub use identity::Identity;

pub(crate) use api_key::ApiKey;
pub(crate) use authenticate::{AnyAuthenticate, erased};
