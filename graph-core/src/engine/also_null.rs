use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// Reads a value that is there, also where it is null, as a packet may be; without the field there is none.
pub(super) fn also_null<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Box<RawValue>>, D::Error> {
    Box::<RawValue>::deserialize(deserializer).map(Some)
}
