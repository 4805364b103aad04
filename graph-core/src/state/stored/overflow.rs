//! Refuses numbers that were too large for their type when they were read.

use crate::checkpoint::StoredField;
use crate::payload::{Payload, any_may_overflow};

use super::super::{FieldWrite, GraphState, Update};
use super::{DecodeError, Decoded, EncodeError, Form};

type WriteOf<S> = <<S as GraphState>::Update as Update<S>>::Write;

/// Returns the error of a write that holds infinity, because a number in its JSON was too large for its type.
pub(in super::super) fn overflow_of<S, W: FieldWrite<S>>(write: &W) -> Option<EncodeError> {
    write.__encode(&mut Vec::new()).err().filter(|error| error.overflow().is_some())
}

/// Decodes a write, and refuses a number that is too large for its type.
pub(crate) fn decode_write<S: GraphState>(key: &str, form: Form, payload: &Payload) -> Decoded<WriteOf<S>> {
    let decoded = WriteOf::<S>::__decode(key, form, payload);
    let error = match &decoded {
        Decoded::Write(write) if any_may_overflow([payload]) => overflow_of(write),
        _ => None,
    };
    error.and_then(DecodeError::of_overflow).map_or(decoded, Decoded::Invalid)
}

/// Returns `true` if the stored fields may contain a number that is too large for its type.
pub(crate) fn have_large_number(stored: &[StoredField]) -> bool {
    any_may_overflow(stored.iter().flat_map(|field| &field.changes).map(|change| &change.payload))
}
