use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// Where items are: a list of texts, from the widest to the narrowest.
///
/// Segments are compared one by one and never joined, so that no two lists mean the same place:
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
/// Any text is a segment, the empty one too. A single text is a namespace of one segment; the list of none is the root,
/// which everything is within. Namespaces are ordered by their segments, and these by their bytes.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Namespace(Arc<[Arc<str>]>);

/// A segment of a [`Namespace`]: any text.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no segment of a namespace",
    label = "a segment of a namespace is a text",
    note = "`.to_string()` makes a text of a number"
)]
pub trait Segment {
    /// The text.
    fn into_segment(self) -> Arc<str>;
}

macro_rules! segments {
    ($($of:ty: |$text:ident| $into:expr;)*) => {$(
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
    /// The namespace that everything is within.
    pub fn root() -> Self {
        Self(Arc::from([]))
    }

    /// The segments, from the widest to the narrowest.
    pub fn segments(&self) -> &[Arc<str>] {
        &self.0
    }

    /// The namespace one segment further in.
    #[must_use]
    pub fn child(&self, segment: impl Segment) -> Self {
        self.0.iter().cloned().chain([segment.into_segment()]).collect()
    }

    /// Whether it is this one or further in.
    pub fn is_within(&self, outer: &Self) -> bool {
        self.0.starts_with(&outer.0)
    }

    /// Whether its last segments are these.
    pub fn ends_with(&self, segments: &Self) -> bool {
        self.0.ends_with(&segments.0)
    }

    /// The namespace that has at most so many of its segments.
    #[must_use]
    pub fn truncated(&self, segments: usize) -> Self {
        match self.0.get(..segments) {
            Some(outer) => Self(outer.into()),
            None => self.clone(),
        }
    }
}

/// The root.
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

/// One segment, whatever is in it.
impl From<&str> for Namespace {
    fn from(segment: &str) -> Self {
        Self(Arc::from([Arc::from(segment)]))
    }
}

/// One segment, whatever is in it.
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
