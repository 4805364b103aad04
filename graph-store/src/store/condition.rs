use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use serde_json::value::RawValue;

use crate::payload::Encoding;
use crate::payload::to_payload;

use super::field_path::{array, object, parse, string};
use super::number::Number;
use super::{FieldPath, StoreError};

/// A condition on a field of a value, by which a search selects items.
///
/// Values are compared by their JSON:
///
/// - Types are strict: `1` is neither `"1"` nor `true`, and null is not a missing field.
/// - Numbers are compared exactly by their value: `1` equals `1.0`, and no digit is lost.
/// - Arrays are equal if their items are equal, and objects if their fields are equal.
///
/// The operand never becomes part of a query language, so it cannot inject anything.
#[derive(Clone, PartialEq, Eq)]
pub struct Condition {
    path: FieldPath,
    test: Test,
    /// JSON.
    operand: Arc<str>,
}

/// The comparison of a field with the operand of a [`Condition`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Test {
    /// The field equals the operand.
    Equal,
    /// The field differs from the operand, in value or type, or is missing.
    NotEqual,
    /// The field is greater than the operand: both are numbers, or both are strings. Strings are compared by their
    /// bytes.
    Greater,
    /// The field is greater than or equal to the operand, and of the same type.
    AtLeast,
    /// The field is less than the operand, and of the same type.
    Less,
    /// The field is less than or equal to the operand, and of the same type.
    AtMost,
}

/// A comparison with an operand, for a field that [`filter`](super::Searching::filter) names.
#[derive(Clone, Copy, Debug)]
pub struct Tested<T>(pub(super) Test, pub(super) T);

/// In a filter: the field differs from this value, in value or type, or is missing.
pub fn ne<T: Serialize>(value: T) -> Tested<T> {
    Tested(Test::NotEqual, value)
}

/// In a filter: the field is greater than this number or string.
///
/// ```
/// use std::collections::BTreeMap;
///
/// use superstep::store::{LongTermStore, MemoryStore, gt, lte};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> superstep::Result<()> {
/// let store = LongTermStore::new(MemoryStore::new());
/// let scores = store.of::<BTreeMap<String, u32>>("scores");
/// scores.put("ann", &[("points".to_owned(), 7)].into()).await?;
/// let found = scores.search().filter("points", gt(5)).filter("points", lte(7.5)).await?;
/// assert_eq!(found.items.len(), 1);
/// # Ok(())
/// # }
/// ```
pub fn gt<T: Serialize>(value: T) -> Tested<T> {
    Tested(Test::Greater, value)
}

/// In a filter: the field is greater than or equal to this number or string.
pub fn gte<T: Serialize>(value: T) -> Tested<T> {
    Tested(Test::AtLeast, value)
}

/// In a filter: the field is less than this number or string.
pub fn lt<T: Serialize>(value: T) -> Tested<T> {
    Tested(Test::Less, value)
}

/// In a filter: the field is less than or equal to this number or string.
pub fn lte<T: Serialize>(value: T) -> Tested<T> {
    Tested(Test::AtMost, value)
}

impl Condition {
    /// Creates a condition from a field, a comparison and an operand.
    ///
    /// # Errors
    /// [`Invalid`](StoreError::Invalid) if JSON cannot represent the operand, or if an ordering comparison has an
    /// operand that is neither a number nor a string.
    pub fn new<T: Serialize + ?Sized>(
        path: impl Into<FieldPath>,
        test: Test,
        operand: &T,
    ) -> Result<Self, StoreError> {
        let path = path.into();
        let invalid = |why: &str| {
            StoreError::invalid(format!("field {path} cannot be compared with this value: {why}"))
        };
        let payload = to_payload(&operand).map_err(|unstorable| invalid(&format!("it {unstorable}")))?;
        if payload.encoding() != Encoding::Json {
            return Err(invalid("it is bytes, and fields are JSON"));
        }
        let operand = std::str::from_utf8(payload.bytes()).map_err(|_| invalid("it is not UTF-8"))?;
        let ordered = operand.starts_with(['"', '-']) || operand.starts_with(|c: char| c.is_ascii_digit());
        if !ordered && !matches!(test, Test::Equal | Test::NotEqual) {
            return Err(invalid("only numbers and strings have an order"));
        }
        Ok(Self { operand: operand.into(), path, test })
    }

    /// Returns the field.
    pub fn path(&self) -> &FieldPath {
        &self.path
    }

    /// Returns the comparison.
    pub fn test(&self) -> Test {
        self.test
    }

    /// Returns the operand as JSON.
    pub fn operand(&self) -> &str {
        &self.operand
    }

    /// Returns `true` if a value meets the condition. A value without JSON has no fields.
    pub(super) fn holds(&self, json: Option<&str>) -> Result<bool, String> {
        let field = match json {
            Some(json) => self.path.find(parse(json)?)?,
            None => None,
        };
        let operand = parse(&self.operand)?;
        let Some(field) = field else { return Ok(self.test == Test::NotEqual) };
        let ordering = || order(field, operand);
        Ok(match self.test {
            Test::Equal => equal(field, operand)?,
            Test::NotEqual => !equal(field, operand)?,
            Test::Greater => ordering()?.is_some_and(Ordering::is_gt),
            Test::AtLeast => ordering()?.is_some_and(Ordering::is_ge),
            Test::Less => ordering()?.is_some_and(Ordering::is_lt),
            Test::AtMost => ordering()?.is_some_and(Ordering::is_le),
        })
    }
}

/// The type of a JSON value, by its first character.
#[derive(PartialEq, Eq)]
enum Kind {
    String,
    Object,
    Array,
    Number,
    /// `null`, `true` or `false`.
    Literal,
}

fn kind(json: &RawValue) -> Kind {
    match json.get().as_bytes().first() {
        Some(b'"') => Kind::String,
        Some(b'{') => Kind::Object,
        Some(b'[') => Kind::Array,
        Some(b'n' | b't' | b'f') => Kind::Literal,
        _ => Kind::Number,
    }
}

fn equal(a: &RawValue, b: &RawValue) -> Result<bool, String> {
    if kind(a) != kind(b) {
        return Ok(false);
    }
    Ok(match kind(a) {
        Kind::Literal => a.get() == b.get(),
        Kind::String | Kind::Number => order(a, b)?.is_some_and(Ordering::is_eq),
        Kind::Array => {
            let (a, b) = (array(a)?, array(b)?);
            a.len() == b.len() && all_equal(a.into_iter().zip(b))?
        }
        Kind::Object => {
            let (a, b) = (object(a)?, object(b)?);
            a.len() == b.len() && a.keys().eq(b.keys()) && all_equal(a.into_values().zip(b.into_values()))?
        }
    })
}

fn all_equal<'v>(pairs: impl Iterator<Item = (&'v RawValue, &'v RawValue)>) -> Result<bool, String> {
    for (a, b) in pairs {
        if !equal(a, b)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Compares two strings or two numbers. Returns `None` for other types.
fn order(a: &RawValue, b: &RawValue) -> Result<Option<Ordering>, String> {
    Ok(match (kind(a), kind(b)) {
        (Kind::String, Kind::String) => Some(string(a)?.cmp(&string(b)?)),
        (Kind::Number, Kind::Number) => match (Number::read(a.get()), Number::read(b.get())) {
            (Some(a), Some(b)) => Some(a.compare(b)),
            _ => None,
        },
        _ => None,
    })
}

/// Leaves out the operand, which may be secret.
impl fmt::Debug for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Condition({} {:?} …)", self.path, self.test)
    }
}

#[cfg(test)]
mod tests;
