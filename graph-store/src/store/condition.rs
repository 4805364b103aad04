use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use serde_json::value::RawValue;

use crate::payload::Encoding;
use crate::payload::to_payload;

use super::field_path::{list, object, raw, text};
use super::number::Number;
use super::{FieldPath, StoreError};

/// What a field of an item's value must be for a search to find it.
///
/// Values are compared as what they are in JSON, and strictly: `1` is neither `"1"` nor `true`, null is no missing field.
/// Numbers are compared as numbers, exactly: `1` is `1.0`, and no digit is lost on the way. Lists are equal item by item,
/// objects name by name.
///
/// The operand is never part of a statement of any language.
#[derive(Clone, PartialEq, Eq)]
pub struct Condition {
    path: FieldPath,
    test: Test,
    /// JSON.
    operand: Arc<str>,
}

/// How a field is compared with the operand of a [`Condition`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Test {
    /// It is equal.
    Equal,
    /// It is not equal: it is something else, of whatever type, or is not there.
    NotEqual,
    /// It is greater, and a number if the operand is one, or a text if that is one; texts by their bytes.
    Greater,
    /// It is greater or equal, and of the operand's type.
    AtLeast,
    /// It is less, and of the operand's type.
    Less,
    /// It is less or equal, and of the operand's type.
    AtMost,
}

/// A test with its operand, for a field that is still to be said.
#[derive(Clone, Copy, Debug)]
pub struct Tested<T>(pub(super) Test, pub(super) T);

/// In a filter: the field is something else than this, of whatever type, or is not there.
pub fn ne<T: Serialize>(value: T) -> Tested<T> {
    Tested(Test::NotEqual, value)
}

/// In a filter: the field is greater than this number or text.
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

/// In a filter: the field is this number or text, or greater.
pub fn gte<T: Serialize>(value: T) -> Tested<T> {
    Tested(Test::AtLeast, value)
}

/// In a filter: the field is less than this number or text.
pub fn lt<T: Serialize>(value: T) -> Tested<T> {
    Tested(Test::Less, value)
}

/// In a filter: the field is this number or text, or less.
pub fn lte<T: Serialize>(value: T) -> Tested<T> {
    Tested(Test::AtMost, value)
}

impl Condition {
    /// What a field must be, compared with a value.
    ///
    /// # Errors
    /// [`Invalid`](StoreError::Invalid) if the value is none that JSON holds, or is neither a number nor a text and is asked to be
    /// greater or less.
    pub fn new<T: Serialize + ?Sized>(
        path: impl Into<FieldPath>,
        test: Test,
        operand: &T,
    ) -> Result<Self, StoreError> {
        let path = path.into();
        let invalid =
            |why: &str| StoreError::invalid(format!("field {path} cannot be searched for this value: {why}"));
        let payload = to_payload(&operand).map_err(|unstorable| invalid(&format!("it {unstorable}")))?;
        if payload.encoding() != Encoding::Json {
            return Err(invalid("it is bytes, and no field is"));
        }
        let operand = std::str::from_utf8(payload.bytes()).map_err(|_| invalid("it is not UTF-8"))?;
        let ordered = operand.starts_with(['"', '-']) || operand.starts_with(|c: char| c.is_ascii_digit());
        if !ordered && !matches!(test, Test::Equal | Test::NotEqual) {
            return Err(invalid("only numbers and texts are greater or less than one another"));
        }
        Ok(Self { operand: operand.into(), path, test })
    }

    /// The field.
    pub fn path(&self) -> &FieldPath {
        &self.path
    }

    /// How it is compared.
    pub fn test(&self) -> Test {
        self.test
    }

    /// What it is compared with, as JSON.
    pub fn operand(&self) -> &str {
        &self.operand
    }

    /// Whether a value fulfils it; one without JSON has no fields.
    pub(super) fn holds(&self, json: Option<&str>) -> Result<bool, String> {
        let field = match json {
            Some(json) => self.path.find(raw(json)?)?,
            None => None,
        };
        let operand = raw(&self.operand)?;
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

/// What a JSON text is, by its first character.
#[derive(PartialEq, Eq)]
enum Kind {
    Text,
    Object,
    List,
    Number,
    /// `null`, `true`, `false`.
    Word,
}

fn kind(json: &RawValue) -> Kind {
    match json.get().as_bytes().first() {
        Some(b'"') => Kind::Text,
        Some(b'{') => Kind::Object,
        Some(b'[') => Kind::List,
        Some(b'n' | b't' | b'f') => Kind::Word,
        _ => Kind::Number,
    }
}

fn equal(a: &RawValue, b: &RawValue) -> Result<bool, String> {
    if kind(a) != kind(b) {
        return Ok(false);
    }
    Ok(match kind(a) {
        Kind::Word => a.get() == b.get(),
        Kind::Text | Kind::Number => order(a, b)?.is_some_and(Ordering::is_eq),
        Kind::List => {
            let (a, b) = (list(a)?, list(b)?);
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

/// How two texts or two numbers compare; other things do not.
fn order(a: &RawValue, b: &RawValue) -> Result<Option<Ordering>, String> {
    Ok(match (kind(a), kind(b)) {
        (Kind::Text, Kind::Text) => Some(text(a)?.cmp(&text(b)?)),
        (Kind::Number, Kind::Number) => match (Number::read(a.get()), Number::read(b.get())) {
            (Some(a), Some(b)) => Some(a.compare(b)),
            _ => None,
        },
        _ => None,
    })
}

/// What is searched for may be what a value keeps to itself.
impl fmt::Debug for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Condition({} {:?} …)", self.path, self.test)
    }
}

#[cfg(test)]
mod tests;
