use std::marker::PhantomData;

use super::{Field, GraphState, IntoUpdate, Overwrite, WriteKind};

/// The fields that a narrow update can write; the constant `WRITES` of a struct with
/// [`#[derive(StateUpdate)]`](derive@crate::StateUpdate).
///
/// ```
/// use superstep::{GraphState, StateUpdate};
///
/// #[derive(GraphState, Clone)]
/// struct Ticket {
///     #[state(input)]
///     question: String,
///     answer: Option<String>,
/// }
///
/// #[derive(StateUpdate)]
/// #[update(of = Ticket)]
/// struct Answered {
///     answer: String,
/// }
///
/// assert_eq!(Answered::WRITES.names(), ["answer"]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct WrittenFields {
    /// `false` if the update can write any field.
    is_known: bool,
    own: &'static [WrittenField],
    /// The fields of flattened states. `false` if an update may leave them out.
    parts: &'static [(WrittenFields, bool)],
}

/// A field that an update can write.
#[derive(Clone, Copy, Debug)]
pub struct WrittenField {
    /// The name in JSON, which is unique in a state and in those into which it is flattened.
    pub(crate) name: &'static str,
    pub(crate) kind: WriteKind,
    /// `true` if each update writes the field, in this way.
    pub(crate) always: bool,
}

impl WrittenFields {
    /// The fields of an update that can write any.
    pub(crate) const UNKNOWN: Self = Self { is_known: false, own: &[], parts: &[] };

    #[doc(hidden)]
    pub const NONE: Self = Self { is_known: true, own: &[], parts: &[] };

    #[doc(hidden)]
    pub const fn __new(own: &'static [WrittenField], parts: &'static [(Self, bool)]) -> Self {
        Self { is_known: true, own, parts }
    }

    /// Returns the names of the fields, as in JSON. Those of flattened states follow the state's own.
    ///
    /// The list lacks the fields of a flattened state that its whole update writes, because that can write any.
    pub fn names(&self) -> Vec<&'static str> {
        let mut fields = Vec::new();
        self.collect(true, &mut fields);
        fields.into_iter().map(|field| field.name).collect()
    }

    /// Returns the fields, those of flattened states too. `None` if the update can write any field.
    pub(crate) fn all(&self) -> Option<Vec<WrittenField>> {
        let mut fields = Vec::new();
        self.collect(true, &mut fields).then_some(fields)
    }

    /// Appends the fields. Returns `false` if there may be others.
    fn collect(&self, always: bool, into: &mut Vec<WrittenField>) -> bool {
        into.extend(self.own.iter().map(|field| WrittenField { always: field.always && always, ..*field }));
        let parts = self.parts.iter().map(|(part, each)| part.collect(always && *each, into));
        parts.fold(self.is_known, |known, part| known && part)
    }

    /// Returns the nth field while compiling.
    pub(crate) const fn nth(&self, nth: usize) -> Option<WrittenField> {
        match self.seek(nth, true) {
            Ok(field) => Some(field),
            Err(_) => None,
        }
    }

    /// Returns the nth field, or by how much there are too few.
    const fn seek(&self, mut nth: usize, always: bool) -> Result<WrittenField, usize> {
        let mut own = self.own;
        while let [field, others @ ..] = own {
            match nth.checked_sub(1) {
                None => return Ok(WrittenField { always: field.always && always, ..*field }),
                Some(left) => nth = left,
            }
            own = others;
        }
        let mut parts = self.parts;
        while let [(part, each), others @ ..] = parts {
            match part.seek(nth, always && *each) {
                Ok(field) => return Ok(field),
                Err(left) => nth = left,
            }
            parts = others;
        }
        Err(nth)
    }

    /// Returns `true` while compiling if all fields are known.
    pub(crate) const fn are_known(&self) -> bool {
        let mut parts = self.parts;
        while let [(part, _), others @ ..] = parts {
            if !part.are_known() {
                return false;
            }
            parts = others;
        }
        self.is_known
    }
}

impl WrittenField {
    #[doc(hidden)]
    pub const fn __new<S, T>(field: &Field<S, T>, overwrites: bool, always: bool) -> Self {
        let kind = match (overwrites, field.is_exclusive()) {
            (true, _) => WriteKind::Overwrite,
            (false, true) => WriteKind::Exclusive,
            (false, false) => WriteKind::Folded,
        };
        Self { name: field.name(), kind, always }
    }

    /// Returns `true` if a superstep in which one task writes `self` and another `other` fails, unless a third one
    /// overwrites the field.
    pub(crate) const fn conflicts_with(&self, other: &Self) -> bool {
        let both = matches!(
            (self.kind, other.kind),
            (WriteKind::Exclusive, WriteKind::Exclusive) | (WriteKind::Overwrite, WriteKind::Overwrite)
        );
        both && self.always && other.always && equal(self.name.as_bytes(), other.name.as_bytes())
    }

    /// Returns `true` if the write may cancel other writes to the field.
    pub(crate) const fn may_cancel(&self, name: &str) -> bool {
        matches!(self.kind, WriteKind::Overwrite) && equal(self.name.as_bytes(), name.as_bytes())
    }
}

const fn equal(mut one: &[u8], mut other: &[u8]) -> bool {
    while let ([a, rest_of_one @ ..], [b, rest_of_other @ ..]) = (one, other) {
        if *a != *b {
            return false;
        }
        (one, other) = (rest_of_one, rest_of_other);
    }
    one.is_empty() && other.is_empty()
}

/// The type of a value that a narrow update writes.
///
/// `GivenValue<Overwrite<T>>::OVERWRITES` is the constant below, that of any other type the one of the trait.
pub struct GivenValue<T>(PhantomData<fn() -> T>);

impl<T> GivenValue<T> {
    #[doc(hidden)]
    pub const fn __new() -> Self {
        Self(PhantomData)
    }
}

impl<T> GivenValue<Overwrite<T>> {
    /// An overwrite replaces the field, whatever its reducer.
    pub const OVERWRITES: bool = true;
}

/// A value that is no [`Overwrite`].
pub trait NoOverwrite {
    /// The reducer decides.
    const OVERWRITES: bool = false;
}

impl<T> NoOverwrite for GivenValue<T> {}

/// A field of a state that is not flattened: what a field of a narrow update can write.
#[diagnostic::on_unimplemented(
    message = "this field of the state is a flattened state",
    label = "is a flattened state",
    note = "write `#[update(flatten)]` on the field, and give it the type of an update of that state"
)]
pub trait PlainField {}

#[diagnostic::do_not_recommend]
impl<S, T> PlainField for Field<S, T> {}

/// A flattened state, as a constant of its owner.
pub struct FlattenedField<S, P>(PhantomData<fn(S) -> P>);

impl<S, P> FlattenedField<S, P> {
    #[doc(hidden)]
    pub const fn __new() -> Self {
        Self(PhantomData)
    }
}

/// A constant of a flattened state: what a field of a narrow update with `flatten` writes.
#[diagnostic::on_unimplemented(
    message = "this field of the state is not a flattened state",
    label = "is not a flattened state",
    note = "remove `flatten` from the field"
)]
pub trait Flattened {
    /// The flattened state.
    type Part: GraphState;
}

#[diagnostic::do_not_recommend]
impl<S, P: GraphState> Flattened for FlattenedField<S, P> {
    type Part = P;
}

/// Fails to compile if the field is a flattened state.
pub const fn plain_field<F: PlainField>(_: &F) {}

/// Fails to compile if the field is not a flattened state.
pub const fn flattened_field<F: Flattened>(_: &F) {}

/// Fails to compile if `U` is not an update of the flattened state. Returns the fields that it can write.
pub const fn flattened_writes<F: Flattened, U: IntoUpdate<F::Part>>(
    _: &F,
    _: &GivenValue<U>,
) -> WrittenFields {
    U::WRITES
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn field(name: &'static str, kind: WriteKind, always: bool) -> WrittenField {
        WrittenField { name, kind, always }
    }

    const PART: WrittenFields = WrittenFields::__new(&[field("c", WriteKind::Folded, true)], &[]);
    const WHOLE: WrittenFields = WrittenFields::__new(
        &[field("a", WriteKind::Exclusive, true), field("b", WriteKind::Overwrite, false)],
        &[(PART, false), (PART, true)],
    );

    #[test]
    fn fields_of_parts_follow_the_own() {
        assert_eq!(WHOLE.names(), ["a", "b", "c", "c"]);
        let all: Vec<_> = WHOLE.all().unwrap().iter().map(|field| (field.name, field.always)).collect();
        assert_eq!(all, [("a", true), ("b", false), ("c", false), ("c", true)]);
        let nth = (0..5).map(|nth| WHOLE.nth(nth).map(|field| (field.name, field.always)));
        assert_eq!(nth.flatten().collect::<Vec<_>>(), all);
    }

    #[test]
    fn update_with_an_unknown_part_is_unknown() {
        let whole = WrittenFields::__new(&[], const { &[(WrittenFields::UNKNOWN, true)] });
        assert!(!whole.are_known() && whole.all().is_none());
        assert!(WHOLE.are_known());
    }

    #[test]
    fn only_certain_writes_of_one_kind_conflict() {
        use WriteKind::{Exclusive, Folded, Overwrite};
        for (one, other, expected) in [
            (field("a", Exclusive, true), field("a", Exclusive, true), true),
            (field("a", Overwrite, true), field("a", Overwrite, true), true),
            (field("a", Exclusive, true), field("b", Exclusive, true), false),
            (field("a", Exclusive, true), field("ab", Exclusive, true), false),
            (field("a", Exclusive, true), field("a", Exclusive, false), false),
            (field("a", Exclusive, true), field("a", Overwrite, true), false),
            (field("a", Folded, true), field("a", Folded, true), false),
        ] {
            assert_eq!(one.conflicts_with(&other), expected, "{one:?} {other:?}");
            assert_eq!(other.conflicts_with(&one), expected, "{other:?} {one:?}");
        }
    }
}
