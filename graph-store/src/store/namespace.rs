use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// A namespace of items: a list of strings, from the widest to the narrowest.
///
/// Segments are compared one by one and never joined, so two different lists are always two namespaces:
///
/// ```
/// use superstep::store::Namespace;
///
/// let user = Namespace::from(["users", "1"]);
/// assert_ne!(Namespace::from(["a", "b.c"]), Namespace::from(["a.b", "c"]));
/// assert!(Namespace::from(["users", "1", "notes"]).is_within(&user));
/// assert!(!Namespace::from(["users", "10"]).is_within(&user));
/// assert_eq!(user.child("notes").to_string(), r#"["users", "1", "notes"]"#);
/// ```
///
/// A segment is an arbitrary string, including the empty string. A single string is a namespace of one segment. The
/// empty list is the root, which contains all namespaces. Namespaces are ordered by their segments, and segments by
/// their bytes.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Namespace(Arc<[Arc<str>]>);

/// A segment of a [`Namespace`]: an arbitrary string.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a segment of a namespace",
    label = "a segment must be a string",
    note = "convert a number with `.to_string()`"
)]
pub trait Segment {
    /// Returns the segment as a string.
    fn into_segment(self) -> Arc<str>;
}

macro_rules! segments {
    ($($of:ty: |$text:ident| $into:expr;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl Segment for $of {
            fn into_segment(self) -> Arc<str> {
                let $text = self;
                $into
            }
        }
    )*};
}

segments! {
    &str: |text| text.into();
    &&str: |text| (*text).into();
    String: |text| text.into();
    &String: |text| text.as_str().into();
    Arc<str>: |text| text;
    &Arc<str>: |text| Arc::clone(text);
    Cow<'_, str>: |text| text.into();
}

impl Namespace {
    /// Returns the root, which contains all namespaces.
    pub fn root() -> Self {
        Self(Arc::from([]))
    }

    /// Returns the segments, from the widest to the narrowest.
    pub fn segments(&self) -> &[Arc<str>] {
        &self.0
    }

    /// Returns the namespace with one more segment.
    #[must_use]
    pub fn child(&self, segment: impl Segment) -> Self {
        self.0.iter().cloned().chain([segment.into_segment()]).collect()
    }

    /// Returns `true` if `outer` is this namespace or contains it.
    pub fn is_within(&self, outer: &Self) -> bool {
        self.0.starts_with(&outer.0)
    }

    /// Returns `true` if these are the last segments.
    pub fn ends_with(&self, segments: &Self) -> bool {
        self.0.ends_with(&segments.0)
    }

    /// Returns the namespace of at most the first `segments` segments.
    #[must_use]
    pub fn truncated(&self, segments: usize) -> Self {
        match self.0.get(..segments) {
            Some(outer) => Self(outer.into()),
            None => self.clone(),
        }
    }
}

/// Returns the root.
impl Default for Namespace {
    fn default() -> Self {
        Self::root()
    }
}

impl<T: Segment> FromIterator<T> for Namespace {
    fn from_iter<I: IntoIterator<Item = T>>(segments: I) -> Self {
        Self(segments.into_iter().map(Segment::into_segment).collect())
    }
}

impl<T: Segment, const N: usize> From<[T; N]> for Namespace {
    fn from(segments: [T; N]) -> Self {
        segments.into_iter().collect()
    }
}

impl<T: Segment + Clone> From<&[T]> for Namespace {
    fn from(segments: &[T]) -> Self {
        segments.iter().cloned().collect()
    }
}

impl<T: Segment> From<Vec<T>> for Namespace {
    fn from(segments: Vec<T>) -> Self {
        segments.into_iter().collect()
    }
}

/// Creates a namespace of one segment. The string is not split.
impl From<&str> for Namespace {
    fn from(segment: &str) -> Self {
        Self(Arc::from([Arc::from(segment)]))
    }
}

/// Creates a namespace of one segment. The string is not split.
impl From<String> for Namespace {
    fn from(segment: String) -> Self {
        Self(Arc::from([Arc::from(segment)]))
    }
}

impl From<&Self> for Namespace {
    fn from(namespace: &Self) -> Self {
        namespace.clone()
    }
}

impl fmt::Display for Namespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter()).finish()
    }
}

impl fmt::Debug for Namespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
