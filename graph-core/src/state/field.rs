use std::fmt;

use crate::reducers::StoredAs;

/// A typed constant for a field of a state: `Ticket::ANSWER` is a `Field<Ticket, Option<String>>`.
///
/// A constant of another state or of another type does not compile in its place.
pub struct Field<S, T> {
    name: &'static str,
    index: usize,
    get: fn(&S) -> &T,
    /// `true` if two tasks of one superstep that write the field are a conflict.
    exclusive: bool,
}

impl<S, T> Field<S, T> {
    #[doc(hidden)]
    pub const fn __new(name: &'static str, index: usize, get: fn(&S) -> &T) -> Self {
        Self { name, index, get, exclusive: true }
    }

    /// A field with a reducer.
    #[doc(hidden)]
    pub const fn __reduced(name: &'static str, index: usize, get: fn(&S) -> &T, exclusive: bool) -> Self {
        Self { name, index, get, exclusive }
    }

    /// Returns the field's name in dumps, inputs and errors (after `rename`).
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the field's position among the fields of its state. Fields of flattened states follow the state's own.
    pub const fn index(&self) -> usize {
        self.index
    }

    pub(crate) const fn is_exclusive(&self) -> bool {
        self.exclusive
    }

    /// Returns the field's value in `state`.
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

/// The attributes of one field of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FieldSpec {
    /// The name in dumps, inputs and errors (after `rename`).
    pub name: &'static str,
    /// The reducer as written in the attribute; `None` without a reducer.
    pub reducer: Option<&'static str>,
    /// `true` if the field is cleared after one superstep could read it.
    pub ephemeral: bool,
    /// `true` if dumps and serialized events leave the field out. Its value is in no error text either.
    pub excluded: bool,
    /// `true` if the field is in no checkpoint and no JSON input. It is dumped only with a `serialize_with` function.
    pub untracked: bool,
    /// The form in which a checkpoint stores a write to the field; `None` if checkpoints do not store the field.
    pub stored: Option<StoredAs>,
    /// `true` if a thread's first input or first update must contain the field, because it has no start value.
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
