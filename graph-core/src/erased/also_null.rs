use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// Deserializes a present field into `Some`, even if its value is null. A missing field stays `None` by
/// `#[serde(default)]`.
pub(crate) fn also_null<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Box<RawValue>>, D::Error> {
    Box::<RawValue>::deserialize(deserializer).map(Some)
}
