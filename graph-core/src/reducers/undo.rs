/// Takes one fold back.
pub enum Undo<T> {
    /// Puts the value back that was there.
    Value(T),
    /// Cuts back to a length.
    Length(usize, fn(&mut T, usize)),
    /// Whatever it takes.
    With(Box<dyn FnOnce(&mut T) + Send>),
}

impl<T> Undo<T> {
    /// Nothing was changed. A box around nothing allocates nothing.
    pub(super) fn nothing() -> Self
    where
        T: 'static,
    {
        Self::With(Box::new(|_| {}))
    }

    /// Makes `value` what it was before the fold.
    pub fn undo(self, value: &mut T) {
        match self {
            Self::Value(before) => *value = before,
            Self::Length(length, cut) => cut(value, length),
            Self::With(back) => back(value),
        }
    }
}

impl<T> std::fmt::Debug for Undo<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Undo")
    }
}
