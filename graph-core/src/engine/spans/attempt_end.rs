/// The end of an attempt, as its span records it.
#[cfg_attr(not(feature = "tracing"), expect(dead_code, reason = "only spans read the name of the error"))]
pub(crate) enum AttemptEnd {
    Suspended,
    /// With the name of the error's type.
    Failed(&'static str),
    Panicked,
}
