//! Encryption at rest: [`EncryptedCheckpointer`] around any store.

mod keys;
mod place;
mod read;
mod seal;
mod store;
#[cfg(test)]
mod tests;
mod write;

pub use keys::{Key, Keys};
pub use store::EncryptedCheckpointer;
