use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde_json::value::RawValue;

/// The path of a field in a value: the JSON names of fields, from the outside in.
///
/// A string is one name and is never split. A list is a nested field. The empty list is the value itself.
///
/// ```
/// use superstep::store::FieldPath;
///
/// assert_eq!(FieldPath::from("a.b").to_string(), r#"["a.b"]"#);
/// assert_eq!(FieldPath::from(["address", "city"]).to_string(), r#"["address", "city"]"#);
/// ```
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FieldPath(Arc<[Arc<str>]>);

impl FieldPath {
    /// Returns the path of the value itself.
    pub fn whole() -> Self {
        Self(Arc::from([]))
    }

    /// Returns the names, from the outside in.
    pub fn names(&self) -> &[Arc<str>] {
        &self.0
    }

    /// Returns the value at this path in a JSON value, or `None` if it does not exist.
    pub(super) fn find<'v>(&self, json: &'v RawValue) -> Result<Option<&'v RawValue>, String> {
        let mut found = json;
        for name in &*self.0 {
            if !found.get().starts_with('{') {
                return Ok(None);
            }
            match object(found)?.get(&**name) {
                Some(inner) => found = inner,
                None => return Ok(None),
            }
        }
        Ok(Some(found))
    }
}

/// Parses JSON from a store.
pub(super) fn parse(json: &str) -> Result<&RawValue, String> {
    serde_json::from_str(json).map_err(unreadable)
}

pub(super) fn object(json: &RawValue) -> Result<BTreeMap<String, &RawValue>, String> {
    serde_json::from_str(json.get()).map_err(unreadable)
}

pub(super) fn array(json: &RawValue) -> Result<Vec<&RawValue>, String> {
    serde_json::from_str(json.get()).map_err(unreadable)
}

pub(super) fn string(json: &RawValue) -> Result<String, String> {
    serde_json::from_str(json.get()).map_err(unreadable)
}

/// The error quotes no value, because the JSON is read without a type.
#[expect(clippy::needless_pass_by_value, reason = "it is what `map_err` gives")]
fn unreadable(error: serde_json::Error) -> String {
    format!("it is not JSON: {error}")
}

impl From<&str> for FieldPath {
    fn from(name: &str) -> Self {
        Self(Arc::from([Arc::from(name)]))
    }
}

impl From<String> for FieldPath {
    fn from(name: String) -> Self {
        Self(Arc::from([Arc::from(name)]))
    }
}

impl<T: Into<Arc<str>>, const N: usize> From<[T; N]> for FieldPath {
    fn from(names: [T; N]) -> Self {
        Self(names.into_iter().map(Into::into).collect())
    }
}

impl<T: Into<Arc<str>>> From<Vec<T>> for FieldPath {
    fn from(names: Vec<T>) -> Self {
        Self(names.into_iter().map(Into::into).collect())
    }
}

impl From<&Self> for FieldPath {
    fn from(path: &Self) -> Self {
        path.clone()
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter()).finish()
    }
}

impl fmt::Debug for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
