use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// How the bytes of a [`Payload`] are to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Encoding {
    /// JSON text, in UTF-8.
    Json,
    /// The bytes of a value that is nothing but bytes.
    Bytes,
    /// Something that a wrapper around the store has made of another payload, and will turn back.
    Sealed,
}

impl Encoding {
    /// The number that a store keeps; it never changes.
    pub const fn code(self) -> u8 {
        match self {
            Self::Json => 0,
            Self::Bytes => 1,
            Self::Sealed => 2,
        }
    }

    /// The encoding of a number; `None` for one of a newer version.
    pub const fn from_code(code: u8) -> Option<Self> {
        match code {
            0 => Some(Self::Json),
            1 => Some(Self::Bytes),
            2 => Some(Self::Sealed),
            _ => None,
        }
    }
}

/// A stored value: bytes, and how to read them. Cheap to clone.
#[derive(Clone)]
pub struct Payload {
    encoding: Encoding,
    bytes: Arc<[u8]>,
    range: Range<usize>,
}

impl Payload {
    /// A payload of these bytes.
    pub fn new(encoding: Encoding, bytes: impl Into<Arc<[u8]>>) -> Self {
        let bytes = bytes.into();
        Self { encoding, range: 0..bytes.len(), bytes }
    }

    /// A payload of JSON text.
    pub fn json(text: impl AsRef<str>) -> Self {
        Self::new(Encoding::Json, text.as_ref().as_bytes())
    }

    /// A part of a longer buffer, which is shared instead of copied; `None` where the buffer has no such part.
    #[inline]
    pub fn part_of(encoding: Encoding, bytes: Arc<[u8]>, range: Range<usize>) -> Option<Self> {
        bytes.get(range.clone())?;
        Some(Self { encoding, bytes, range })
    }

    /// How the bytes are to be read.
    #[inline]
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// The bytes.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        self.bytes.get(self.range.clone()).unwrap_or_default()
    }

    /// How many bytes there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.range.len()
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.range.is_empty()
    }
}

impl PartialEq for Payload {
    fn eq(&self, other: &Self) -> bool {
        self.encoding == other.encoding && self.bytes() == other.bytes()
    }
}

impl Eq for Payload {}

/// What is stored may be what a state keeps to itself: its bytes get into no log.
impl fmt::Debug for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Payload({:?}, {} bytes)", self.encoding, self.len())
    }
}
