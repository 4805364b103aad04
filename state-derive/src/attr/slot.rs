use proc_macro2::Ident;

use super::Problems;

/// The value of an attribute and the key that set it. Setting it twice is a mistake.
pub(crate) struct Slot<T>(Option<(Ident, T)>);

impl<T> Default for Slot<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> Slot<T> {
    /// Sets the value. Reports a mistake if it is already set.
    pub(crate) fn set(&mut self, problems: &mut Problems, key: &Ident, value: T) {
        if self.0.is_some() {
            problems.at(key, format!("duplicate `{key}`"));
        } else {
            self.0 = Some((key.clone(), value));
        }
    }

    /// Returns the value without its key.
    pub(crate) fn take(self) -> Option<T> {
        self.0.map(|(_, value)| value)
    }

    pub(crate) fn is_set(&self) -> bool {
        self.0.is_some()
    }

    pub(crate) fn get(&self) -> Option<&T> {
        self.0.as_ref().map(|(_, value)| value)
    }

    /// Returns the key, for errors about the attribute.
    pub(crate) fn key(&self) -> Option<&Ident> {
        self.0.as_ref().map(|(key, _)| key)
    }
}
