use std::fmt;
use std::str::FromStr;

use ulid::Ulid;

/// The id of a checkpoint: 26 characters.
///
/// Ids of a namespace sort in the order in which its checkpoints were made.
///
/// ```
/// use superstep::checkpoint::CheckpointId;
///
/// let first = CheckpointId::after(None);
/// let second = CheckpointId::after(Some(first));
/// assert!(first < second);
/// assert_eq!(second.to_string().parse(), Ok(second));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CheckpointId(u128);

impl CheckpointId {
    /// The smallest id. No checkpoint has it.
    pub const FIRST: Self = Self(0);

    /// Generates a new id that sorts after `greatest`.
    ///
    /// The id is the time and a random part. If that does not sort after `greatest`, the id is `greatest` plus a random
    /// number of 64 bits: the id of a checkpoint that was rolled back is not generated again.
    pub fn after(greatest: Option<Self>) -> Self {
        let fresh = u128::from(Ulid::generate());
        match greatest {
            Some(Self(greatest)) if fresh <= greatest => {
                let random = (fresh & u128::from(u64::MAX)).saturating_add(1);
                Self(greatest.saturating_add(random))
            }
            _ => Self(fresh),
        }
    }

    /// The length of an id as a string, in bytes.
    pub const TEXT_LEN: usize = ulid::ULID_LEN;

    /// Writes the id as a string into a buffer, without allocating.
    ///
    /// ```
    /// use superstep::checkpoint::CheckpointId;
    ///
    /// let id = CheckpointId::after(None);
    /// let mut buffer = [0; CheckpointId::TEXT_LEN];
    /// assert_eq!(*id.encode_text(&mut buffer), *id.to_string());
    /// ```
    pub fn encode_text(self, buffer: &mut [u8; Self::TEXT_LEN]) -> &mut str {
        Ulid::from(self.0).array_to_str(buffer)
    }

    /// Returns the id as 16 bytes, which sort like the id.
    pub fn to_bytes(self) -> [u8; 16] {
        self.0.to_be_bytes()
    }

    /// Returns the id with these bytes.
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(u128::from_be_bytes(bytes))
    }
}

impl fmt::Display for CheckpointId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&Ulid::from(self.0), f)
    }
}

impl fmt::Debug for CheckpointId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// An error for a string that is not a checkpoint id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a checkpoint id: an id has 26 letters and digits")]
pub struct InvalidCheckpointId(String);

impl FromStr for CheckpointId {
    type Err = InvalidCheckpointId;

    fn from_str(text: &str) -> Result<Self, InvalidCheckpointId> {
        Ulid::from_string(text).map(|id| Self(id.into())).map_err(|_| InvalidCheckpointId(text.to_owned()))
    }
}

impl serde::Serialize for CheckpointId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for CheckpointId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_strings_and_bytes_sort_in_creation_order() {
        let mut last = CheckpointId::after(None);
        for _ in 0..10_000 {
            let next = CheckpointId::after(Some(last));
            assert!(next > last && next.to_string() > last.to_string() && next.to_bytes() > last.to_bytes());
            last = next;
        }
    }

    #[test]
    fn id_is_greater_even_if_the_clock_went_back() {
        let future = CheckpointId::from_bytes([0x7f; 16]);
        let (one, other) = (CheckpointId::after(Some(future)), CheckpointId::after(Some(future)));
        assert!(one > future && other > future);
        assert_ne!(one, other, "one of them may have been rolled back");
    }

    #[test]
    fn strings_and_bytes_round_trip() {
        let id = CheckpointId::after(None);
        assert_eq!(id.to_string().parse(), Ok(id));
        assert_eq!(CheckpointId::from_bytes(id.to_bytes()), id);
        for wrong in ["", "x", "01ARZ3NDEKTSV4RRFFQ69G5FAVX", "01ARZ3NDEKTSV4RRFFQ69G5FA!"] {
            assert!(wrong.parse::<CheckpointId>().is_err(), "{wrong}");
        }
    }
}
