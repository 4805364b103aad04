/// Takes back one fold.
pub enum Undo<T> {
    /// Restores the previous value.
    Value(T),
    /// Truncates to the previous length.
    Length(usize, fn(&mut T, usize)),
    /// Calls a function.
    With(Box<dyn FnOnce(&mut T) + Send>),
}

impl<T> Undo<T> {
    /// An undo of no change. A box of a zero-sized closure does not allocate.
    pub(super) fn nothing() -> Self
    where
        T: 'static,
    {
        Self::With(Box::new(|_| {}))
    }

    /// Restores `value` to its state before the fold.
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
