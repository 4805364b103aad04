use crate::checkpoint::{ChangeKind, Checkpoint, CheckpointId, RecordKey};

/// Comes first in everything that a value is bound to: nobody else's values under the same key can be taken for ours.
const DOMAIN: &str = "graph-core checkpoint 1";

/// A checkpoint as what is encrypted at it knows it. Its thread's name is no part of it: a copy has another.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) origin: &'a str,
    pub(super) namespace: &'a str,
    pub(super) checkpoint: CheckpointId,
}

/// What a value is encrypted together with, without being stored with it: read at another place, it does not open.
///
/// Every part has a length of its own or one before it, so that no two places have the same bytes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Bound(Vec<u8>);

impl Place<'_> {
    /// Where a checkpoint's plan is: with everything that says how the thread goes on and where it comes from.
    ///
    /// Not its time and the caller's metadata, which stores may round, and which nothing is decided by.
    pub(super) fn plan(&self, checkpoint: &Checkpoint) -> Bound {
        let Checkpoint { id: _, parent, step, source, run, created_at: _, next, progress: _ } = checkpoint;
        let bound = self
            .bound(0)
            .bytes(parent.map(CheckpointId::to_bytes).as_ref().map_or(&[], <[u8; 16]>::as_slice))
            .number(step.cast_unsigned())
            .text(source.name())
            .text(&run.id)
            .text(&run.program)
            .number(next.len() as u64);
        next.iter().fold(bound, |bound, node| bound.text(node))
    }

    /// Where a piece is: the so-manieth of those of its field in its checkpoint.
    pub(super) fn piece(&self, field: &str, kind: ChangeKind, position: usize, count: usize) -> Bound {
        let kind = match kind {
            ChangeKind::Value => 0,
            ChangeKind::Delta => 1,
        };
        self.bound(1).text(field).number(kind).number(position as u64).number(count as u64)
    }

    /// Where a record is.
    pub(super) fn record(&self, key: &RecordKey) -> Bound {
        let RecordKey { task, kind, key } = key;
        self.bound(2).number((*task).into()).number(kind.code().into()).text(key)
    }

    fn bound(&self, what: u64) -> Bound {
        let Self { origin, namespace, checkpoint } = self;
        Bound(Vec::with_capacity(256))
            .text(DOMAIN)
            .text(origin)
            .text(namespace)
            .bytes(&checkpoint.to_bytes())
            .number(what)
    }
}

impl Bound {
    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    fn number(mut self, number: u64) -> Self {
        self.0.extend_from_slice(&number.to_le_bytes());
        self
    }

    fn bytes(self, bytes: &[u8]) -> Self {
        let mut bound = self.number(bytes.len() as u64);
        bound.0.extend_from_slice(bytes);
        bound
    }

    fn text(self, text: &str) -> Self {
        self.bytes(text.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::RecordKind;

    #[test]
    fn no_two_places_have_the_same_bytes() {
        let id = |byte| CheckpointId::from_bytes([byte; 16]);
        let mut all = Vec::new();
        for (origin, namespace) in
            [("", ""), ("ab", "c"), ("a", "bc"), ("abc", ""), ("", "abc"), ("a\0", "bc")]
        {
            for checkpoint in [id(0), id(1)] {
                let place = Place { origin, namespace, checkpoint };
                for field in ["", "f", "f\0"] {
                    for kind in [ChangeKind::Value, ChangeKind::Delta] {
                        for (position, count) in [(0, 1), (0, 2), (1, 2)] {
                            all.push(place.piece(field, kind, position, count));
                        }
                    }
                }
                for task in [0, 1, RecordKey::NO_TASK] {
                    for kind in RecordKind::ALL {
                        for key in ["", "0000d:f", "f"] {
                            all.push(place.record(&RecordKey { task, kind, key: key.into() }));
                        }
                    }
                }
            }
        }
        for (index, one) in all.iter().enumerate() {
            assert!(!all.iter().skip(index + 1).any(|other| one == other));
        }
    }
}
