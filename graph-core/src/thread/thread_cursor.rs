use std::fmt::{self, Write as _};
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::checkpoint::{ChangePosition, DuePosition, StatusKind, ThreadQuery, ThreadRecord};
use crate::options::clock;

/// A position in a [list of threads](super::ThreadList), for the client of a server that wants the next page.
///
/// `Display` writes it as a string of letters, digits and `-._~`, which needs no escaping in a URL. `FromStr` and serde read
/// it. It contains the name of a thread, the last one of its page.
///
/// ```
/// use superstep::thread::ThreadCursor;
///
/// let cursor: ThreadCursor = "n.order~2F17".parse()?;
/// assert_eq!(cursor.to_string(), "n.order~2F17");
/// assert!("order/17".parse::<ThreadCursor>().is_err());
/// # Ok::<(), superstep::thread::InvalidThreadCursor>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ThreadCursor {
    order: Order,
    time: Option<u64>,
    thread: Arc<str>,
}

/// The order of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Order {
    Name,
    Due,
    Changed,
}

impl Order {
    fn of(query: &ThreadQuery) -> Self {
        match query {
            ThreadQuery { due: Some(_), .. } => Self::Due,
            ThreadQuery { newest_first: true, .. } => Self::Changed,
            _ => Self::Name,
        }
    }

    const fn letter(self) -> char {
        match self {
            Self::Name => 'n',
            Self::Due => 'd',
            Self::Changed => 'c',
        }
    }
}

impl ThreadCursor {
    /// Returns the position after a thread of a list.
    pub(super) fn after(query: &ThreadQuery, last: &ThreadRecord) -> Self {
        let order = Order::of(query);
        let time = match order {
            Order::Name => None,
            Order::Due => last.status.wakes_at.filter(|_| last.status.kind != StatusKind::Unknown),
            Order::Changed => last.status.changed_at,
        };
        Self { order, time: time.map(clock::to_millis), thread: Arc::clone(&last.thread) }
    }

    /// Returns a query that continues here, or `None` if the query has another order.
    pub(super) fn continues(&self, mut query: ThreadQuery) -> Option<ThreadQuery> {
        if self.order != Order::of(&query) {
            return None;
        }
        let (time, thread) = (self.time.and_then(clock::from_millis), Arc::clone(&self.thread));
        match self.order {
            Order::Name => query.after = Some(thread),
            Order::Due => query.due_after = Some(DuePosition::new(time, thread)),
            Order::Changed => query.newest_after = Some(ChangePosition::new(time, thread)),
        }
        Some(query)
    }
}

impl fmt::Display for ThreadCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char(self.order.letter())?;
        if self.order != Order::Name {
            match self.time {
                Some(time) => write!(f, ".{time}")?,
                None => f.write_str(".-")?,
            }
        }
        f.write_char('.')?;
        for byte in self.thread.bytes() {
            match byte {
                b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'-' | b'_' => f.write_char(char::from(byte))?,
                byte => write!(f, "~{byte:02X}")?,
            }
        }
        Ok(())
    }
}

impl FromStr for ThreadCursor {
    type Err = InvalidThreadCursor;

    fn from_str(text: &str) -> Result<Self, InvalidThreadCursor> {
        read(text).ok_or(InvalidThreadCursor(()))
    }
}

fn read(text: &str) -> Option<ThreadCursor> {
    let (letter, rest) = text.split_once('.')?;
    let order = match letter {
        "n" => Order::Name,
        "d" => Order::Due,
        "c" => Order::Changed,
        _ => return None,
    };
    let (time, name) = match order {
        Order::Name => (None, rest),
        Order::Due | Order::Changed => match rest.split_once('.')? {
            ("-", name) => (None, name),
            (time, name) => (Some(time.parse().ok()?), name),
        },
    };
    let mut parts = name.split('~');
    let mut bytes = parts.next()?.as_bytes().to_vec();
    for part in parts {
        let (code, plain) = part.split_at_checked(2)?;
        bytes.push(u8::from_str_radix(code, 16).ok()?);
        bytes.extend_from_slice(plain.as_bytes());
    }
    let thread = String::from_utf8(bytes).ok()?;
    Some(ThreadCursor { order, time, thread: thread.into() })
}

impl Serialize for ThreadCursor {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ThreadCursor {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// A string is no [`ThreadCursor`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is no cursor of a list of threads: pass on the string that came with the last page")]
pub struct InvalidThreadCursor(());

#[cfg(test)]
mod tests {
    use super::{Order, ThreadCursor};

    #[test]
    fn every_position_reads_back() {
        for name in ["", "a", "order/17", "ä", "\0", "a~b", ".", "d.1.x", "~7E", "-_"] {
            for (order, time) in [
                (Order::Name, None),
                (Order::Due, None),
                (Order::Due, Some(0)),
                (Order::Changed, Some(u64::MAX)),
                (Order::Changed, None),
            ] {
                let cursor = ThreadCursor { order, time, thread: name.into() };
                let text = cursor.to_string();
                assert!(
                    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)),
                    "{text}"
                );
                assert_eq!(text.parse(), Ok(cursor), "{text}");
            }
        }
    }

    #[test]
    fn other_strings_are_refused() {
        for text in ["", "n", "x.a", "d.a", "d..a", "c.1e3.a", "n.a~", "n.a~0", "n.~FF", "n.~é", "d.-1.a"] {
            assert!(text.parse::<ThreadCursor>().is_err(), "{text}");
        }
    }
}
