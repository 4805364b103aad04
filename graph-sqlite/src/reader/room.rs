use crate::error::Error;

/// The number of bytes that a read may still load.
#[derive(Debug)]
pub(crate) struct Room(i64);

impl Room {
    /// The number of bytes that a value counts in addition to its own.
    const OVERHEAD: i64 = 64;

    pub(crate) fn new(bytes: i64) -> Self {
        Self(bytes)
    }

    pub(crate) fn unlimited() -> Self {
        Self(i64::MAX)
    }

    /// Makes room for values with this many bytes together, before they are loaded.
    pub(crate) fn take(&mut self, values: i64, bytes: i64) -> Result<(), Error> {
        if self.0 == i64::MAX {
            return Ok(());
        }
        self.0 = self.0.saturating_sub(values.saturating_mul(Self::OVERHEAD).saturating_add(bytes));
        if self.0 < 0 { Err(Error::NoRoom) } else { Ok(()) }
    }
}
