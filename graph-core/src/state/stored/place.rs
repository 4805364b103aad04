/// The field that generated code stores or reads.
#[derive(Clone, Copy, Debug)]
pub struct FieldPlace {
    /// The index among the fields of its state.
    pub(super) index: usize,
    /// The name under which it is stored, followed by its aliases.
    pub(super) names: &'static [&'static str],
    /// `true` if no error text may contain its value.
    pub(super) excluded: bool,
}

impl FieldPlace {
    #[doc(hidden)]
    pub const fn __new(index: usize, names: &'static [&'static str], excluded: bool) -> Self {
        Self { index, names, excluded }
    }

    pub(super) fn name(&self) -> &'static str {
        self.names.first().copied().unwrap_or_default()
    }
}
