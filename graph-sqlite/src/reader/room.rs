use crate::error::Error;

/// The number of bytes that a read may still load; `None` for a read without a limit.
#[derive(Debug)]
pub(crate) struct Room(Option<i64>);

impl Room {
    /// The number of bytes that a value counts in addition to its own.
    const OVERHEAD: i64 = 64;

    pub(crate) fn new(bytes: i64) -> Self {
        Self(Some(bytes))
    }

    pub(crate) fn unlimited() -> Self {
        Self(None)
    }

    /// Makes room for values with this many bytes together, before they are loaded.
    pub(crate) fn take(&mut self, values: i64, bytes: i64) -> Result<(), Error> {
        let Some(left) = &mut self.0 else { return Ok(()) };
        *left = left.saturating_sub(values.saturating_mul(Self::OVERHEAD).saturating_add(bytes));
        if *left < 0 { Err(Error::NoRoom) } else { Ok(()) }
    }
}
