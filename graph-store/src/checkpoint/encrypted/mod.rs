//! Encryption at rest: [`EncryptedCheckpointer`], a wrapper around any checkpoint store.

mod associated_data;
mod keys;
mod opener;
mod seal;
mod sealer;
mod store;
#[cfg(test)]
mod tests;

pub use keys::{Key, Keys};
pub use store::EncryptedCheckpointer;
