//! Language models.

pub(crate) mod chat_model;
pub(crate) mod error;
pub(crate) mod request;
