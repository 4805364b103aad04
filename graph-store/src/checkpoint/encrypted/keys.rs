use std::fmt;
use std::sync::Arc;

use zeroize::Zeroizing;

/// A secret of 32 bytes and its number, which is stored with each value that the secret encrypts.
///
/// Use random bytes from the operating system or a key service, not a password. `Debug` does not show the secret. It
/// is wiped from memory when the last clone is dropped. Wiping the array that was passed to [`new`](Self::new) is up
/// to the caller.
#[derive(Clone)]
pub struct Key {
    id: u32,
    // In an `Arc`, so that clones and moves leave no copies of the secret in memory.
    secret: Arc<Zeroizing<[u8; 32]>>,
}

impl Key {
    /// Creates a key with a number.
    ///
    /// Never give a number to another secret as long as a value that is encrypted under it is stored.
    pub fn new(id: u32, secret: &[u8; 32]) -> Self {
        let mut own = Arc::new(Zeroizing::new([0; 32]));
        Arc::make_mut(&mut own).copy_from_slice(secret);
        Self { id, secret: own }
    }

    /// Returns the number, which is not secret.
    pub fn id(&self) -> u32 {
        self.id
    }

    pub(super) fn secret(&self) -> &[u8; 32] {
        &self.secret
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({})", self.id)
    }
}

/// The keys of an [`EncryptedCheckpointer`](super::EncryptedCheckpointer): the current one, and old ones for reading.
///
/// ```
/// # use superstep::checkpoint::{Key, Keys};
/// # let (this_year, last_year) = ([26; 32], [25; 32]);
/// let keys = Keys::new(Key::new(2, &this_year)).with_old(Key::new(1, &last_year));
/// assert_eq!(format!("{keys:?}"), "Keys { current: Key(2), old: [Key(1)] }");
/// ```
#[derive(Clone, Debug)]
pub struct Keys {
    current: Key,
    old: Vec<Key>,
}

impl Keys {
    /// Creates a set of keys. All writes use the current key.
    pub fn new(current: Key) -> Self {
        Self { current, old: Vec::new() }
    }

    /// Adds a key for reading values that were written with it.
    ///
    /// If several keys have the same number, the first one is used.
    #[must_use]
    pub fn with_old(mut self, old: Key) -> Self {
        self.old.push(old);
        self
    }

    pub(super) fn current(&self) -> &Key {
        &self.current
    }

    /// Returns the key with a number.
    pub(super) fn find(&self, id: u32) -> Option<&Key> {
        std::iter::once(&self.current).chain(&self.old).find(|key| key.id == id)
    }
}
