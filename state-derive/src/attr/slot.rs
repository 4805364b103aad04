use proc_macro2::Ident;

use super::Problems;

/// What an attribute says, with the place where it does; a second time is a mistake.
pub(crate) struct Slot<T>(Option<(Ident, T)>);

impl<T> Default for Slot<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> Slot<T> {
    /// Takes what `key` says.
    pub(crate) fn set(&mut self, problems: &mut Problems, key: &Ident, value: T) {
        if self.0.is_some() {
            problems.at(key, format!("`{key}` is given twice"));
        } else {
            self.0 = Some((key.clone(), value));
        }
    }

    /// The value, the place no longer being of interest.
    pub(crate) fn take(self) -> Option<T> {
        self.0.map(|(_, value)| value)
    }

    pub(crate) fn is_set(&self) -> bool {
        self.0.is_some()
    }

    pub(crate) fn get(&self) -> Option<&T> {
        self.0.as_ref().map(|(_, value)| value)
    }

    /// The key as it was written, for errors about it.
    pub(crate) fn key(&self) -> Option<&Ident> {
        self.0.as_ref().map(|(key, _)| key)
    }
}
