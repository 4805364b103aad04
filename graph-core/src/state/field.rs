use std::fmt;

use crate::reducers::StoredAs;

/// A field of a state, known to the compiler: `Ticket::ANSWER` is a `Field<Ticket, Option<String>>`.
///
/// A constant of another state, or of another type, does not fit where this one is asked for.
pub struct Field<S, T> {
    name: &'static str,
    index: usize,
    get: fn(&S) -> &T,
}

impl<S, T> Field<S, T> {
    #[doc(hidden)]
    pub const fn __new(name: &'static str, index: usize, get: fn(&S) -> &T) -> Self {
        Self { name, index, get }
    }

    /// The field's name as dumps, inputs and errors spell it (after `rename`).
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The field's position among the fields of its state; flattened states follow the state's own fields.
    pub const fn index(&self) -> usize {
        self.index
    }

    /// The field's value in `state`.
    pub fn get<'s>(&self, state: &'s S) -> &'s T {
        (self.get)(state)
    }
}

impl<S, T> Clone for Field<S, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S, T> Copy for Field<S, T> {}

impl<S, T> fmt::Debug for Field<S, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Field({})", self.name)
    }
}

impl<S, T> fmt::Display for Field<S, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// What a derive says about one field of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FieldSpec {
    /// The name in dumps, inputs and errors (after `rename`).
    pub name: &'static str,
    /// The reducer as it was written, if there is one.
    pub reducer: Option<&'static str>,
    /// Cleared once a superstep that could read it has run.
    pub ephemeral: bool,
    /// Left out of dumps and serialized events; its value appears in no error text.
    pub excluded: bool,
    /// In no checkpoint and no JSON input; dumped only where the state says through which function.
    pub untracked: bool,
    /// What a checkpoint stores when the field was written; `None` for what is in no checkpoint.
    pub stored: Option<StoredAs>,
    /// A thread's first input, or first update, has to give it: it has no value that nobody gave.
    pub required: bool,
}

impl FieldSpec {
    #[doc(hidden)]
    pub const fn __new(name: &'static str) -> Self {
        Self {
            name,
            reducer: None,
            ephemeral: false,
            excluded: false,
            untracked: false,
            stored: None,
            required: false,
        }
    }

    #[doc(hidden)]
    pub const fn __reducer(mut self, reducer: &'static str) -> Self {
        self.reducer = Some(reducer);
        self
    }

    #[doc(hidden)]
    pub const fn __ephemeral(mut self) -> Self {
        self.ephemeral = true;
        self
    }

    #[doc(hidden)]
    pub const fn __excluded(mut self) -> Self {
        self.excluded = true;
        self
    }

    #[doc(hidden)]
    pub const fn __stored(mut self, stored: StoredAs) -> Self {
        self.stored = Some(stored);
        self
    }

    #[doc(hidden)]
    pub const fn __required(mut self) -> Self {
        self.required = true;
        self
    }

    #[doc(hidden)]
    pub const fn __untracked(mut self) -> Self {
        self.untracked = true;
        self
    }
}
