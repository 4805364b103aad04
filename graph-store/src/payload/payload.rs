use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// The encoding of the bytes of a [`Payload`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Encoding {
    /// JSON in UTF-8.
    Json,
    /// The bytes of a value that serializes as bytes.
    Bytes,
    /// Another payload, transformed by a wrapper around the store, which can reverse it. An example is encryption.
    Sealed,
}

impl Encoding {
    /// Returns the number that a store keeps. It never changes.
    pub const fn code(self) -> u8 {
        match self {
            Self::Json => 0,
            Self::Bytes => 1,
            Self::Sealed => 2,
        }
    }

    /// Returns the encoding with this number, or `None` if the number is unknown to this version.
    pub const fn from_code(code: u8) -> Option<Self> {
        match code {
            0 => Some(Self::Json),
            1 => Some(Self::Bytes),
            2 => Some(Self::Sealed),
            _ => None,
        }
    }
}

/// A stored value: bytes and their encoding. Cheap to clone.
#[derive(Clone)]
pub struct Payload {
    encoding: Encoding,
    bytes: Arc<[u8]>,
    range: Range<usize>,
}

impl Payload {
    /// Creates a payload from bytes.
    pub fn new(encoding: Encoding, bytes: impl Into<Arc<[u8]>>) -> Self {
        let bytes = bytes.into();
        Self { encoding, range: 0..bytes.len(), bytes }
    }

    /// Creates a payload from JSON.
    pub fn json(text: impl AsRef<str>) -> Self {
        Self::new(Encoding::Json, text.as_ref().as_bytes())
    }

    /// Creates a payload from a part of a buffer, without copying it.
    ///
    /// Returns `None` if the range is outside the buffer.
    #[inline]
    pub fn part_of(encoding: Encoding, bytes: Arc<[u8]>, range: Range<usize>) -> Option<Self> {
        bytes.get(range.clone())?;
        Some(Self { encoding, bytes, range })
    }

    /// Returns the encoding of the bytes.
    #[inline]
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// Returns the bytes.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        self.bytes.get(self.range.clone()).unwrap_or_default()
    }

    /// Returns the number of bytes.
    #[inline]
    pub fn len(&self) -> usize {
        self.range.len()
    }

    /// Returns `true` if the payload is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.range.is_empty()
    }
}

/// Returns the bytes of payloads. Those that follow each other in one buffer, with one byte of white space between two of
/// them, are one slice.
pub(super) fn joined<'p>(payloads: impl Iterator<Item = &'p Payload>) -> impl Iterator<Item = &'p [u8]> {
    let mut payloads = payloads.peekable();
    std::iter::from_fn(move || {
        let first = payloads.next()?;
        let mut end = first.range.end;
        let follows = |next: &&Payload, end: usize| {
            Arc::ptr_eq(&next.bytes, &first.bytes)
                && next.range.start == end + 1
                && first.bytes.get(end).is_some_and(u8::is_ascii_whitespace)
        };
        while let Some(next) = payloads.next_if(|next| follows(next, end)) {
            end = next.range.end;
        }
        Some(first.bytes.get(first.range.start..end).unwrap_or_default())
    })
}

impl PartialEq for Payload {
    fn eq(&self, other: &Self) -> bool {
        self.encoding == other.encoding && self.bytes() == other.bytes()
    }
}

impl Eq for Payload {}

/// Shows the encoding and the length only. The bytes may be of an excluded field, so they must not appear in logs.
impl fmt::Debug for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Payload({:?}, {} bytes)", self.encoding, self.len())
    }
}
