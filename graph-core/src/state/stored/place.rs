/// Which field generated code stores or reads.
#[derive(Clone, Copy, Debug)]
pub struct FieldPlace {
    /// Its index among the fields of the state that it stands in.
    pub(super) index: usize,
    /// The name under which it is stored, then those under which it is read too.
    pub(super) names: &'static [&'static str],
    /// Its value is in no error text.
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
