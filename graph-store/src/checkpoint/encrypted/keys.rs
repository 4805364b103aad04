use std::fmt;
use std::sync::Arc;

use zeroize::Zeroizing;

/// A secret of 32 bytes, and the number by which stored values say that they are encrypted under it.
///
/// The bytes are random ones, from the operating system or a key service, not a password. They are in no `Debug`, and are
/// wiped from memory when the last clone is dropped; the array that they came in is the caller's to wipe.
#[derive(Clone)]
pub struct Key {
    id: u32,
    // Behind an `Arc`, so that clones and moves leave no copies of it on the way.
    secret: Arc<Zeroizing<[u8; 32]>>,
}

impl Key {
    /// The key of this number. A number is never given to another secret as long as anything is stored under it.
    pub fn new(id: u32, secret: &[u8; 32]) -> Self {
        let mut own = Arc::new(Zeroizing::new([0; 32]));
        Arc::make_mut(&mut own).copy_from_slice(secret);
        Self { id, secret: own }
    }

    /// Its number; no secret.
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

/// The keys of an [`EncryptedCheckpointer`](super::EncryptedCheckpointer): one to write with, and those that were.
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
    /// Everything is written with this key.
    pub fn new(current: Key) -> Self {
        Self { current, old: Vec::new() }
    }

    /// What was written with this key can still be read. Of keys with one number the first counts.
    #[must_use]
    pub fn with_old(mut self, old: Key) -> Self {
        self.old.push(old);
        self
    }

    pub(super) fn current(&self) -> &Key {
        &self.current
    }

    /// The key of a number.
    pub(super) fn of(&self, id: u32) -> Option<&Key> {
        std::iter::once(&self.current).chain(&self.old).find(|key| key.id == id)
    }
}
