use crate::checkpoint::{ChangeKind, Checkpoint, CheckpointId, RecordKey};

/// The first part of all associated data. It keeps values of other programs under the same key apart from ours.
const DOMAIN: &str = "graph-core checkpoint 1";

/// The location of a checkpoint. It excludes the name of the thread, because a copy has another name.
#[derive(Clone, Copy)]
pub(super) struct Location<'a> {
    pub(super) origin: &'a str,
    pub(super) namespace: &'a str,
    pub(super) checkpoint: CheckpointId,
}

/// The associated data of a value: authenticated with the value, but not stored with it. A value does not open at
/// another location.
///
/// Every part has a fixed length or is preceded by its length, so no two locations have the same bytes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct AssociatedData(Vec<u8>);

impl Location<'_> {
    /// Returns the associated data of the plan of a checkpoint: everything that decides how the thread continues.
    ///
    /// The time and the metadata are left out, because stores may round them and planning does not depend on them.
    pub(super) fn plan(&self, checkpoint: &Checkpoint) -> AssociatedData {
        let Checkpoint { id: _, parent, step, source, run, created_at: _, next, progress: _ } = checkpoint;
        let data = self
            .data(0)
            .bytes(parent.map(CheckpointId::to_bytes).as_ref().map_or(&[], <[u8; 16]>::as_slice))
            .number(step.cast_unsigned())
            .text(source.name())
            .text(&run.id)
            .text(&run.program)
            .number(next.len() as u64);
        next.iter().fold(data, |data, node| data.text(node))
    }

    /// Returns the associated data of a change. `position` and `count` are among the changes of its field in its
    /// checkpoint.
    pub(super) fn change(
        &self,
        field: &str,
        kind: ChangeKind,
        position: usize,
        count: usize,
    ) -> AssociatedData {
        let kind = match kind {
            ChangeKind::Value => 0,
            ChangeKind::Delta => 1,
        };
        self.data(1).text(field).number(kind).number(position as u64).number(count as u64)
    }

    /// Returns the associated data of a record.
    pub(super) fn record(&self, key: &RecordKey) -> AssociatedData {
        let RecordKey { task, kind, key } = key;
        self.data(2).number((*task).into()).number(kind.code().into()).text(key)
    }

    fn data(&self, kind: u64) -> AssociatedData {
        let Self { origin, namespace, checkpoint } = self;
        AssociatedData(Vec::with_capacity(256))
            .text(DOMAIN)
            .text(origin)
            .text(namespace)
            .bytes(&checkpoint.to_bytes())
            .number(kind)
    }
}

impl AssociatedData {
    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    fn number(mut self, number: u64) -> Self {
        self.0.extend_from_slice(&number.to_le_bytes());
        self
    }

    fn bytes(self, bytes: &[u8]) -> Self {
        let mut data = self.number(bytes.len() as u64);
        data.0.extend_from_slice(bytes);
        data
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
    fn different_locations_have_different_bytes() {
        let id = |byte| CheckpointId::from_bytes([byte; 16]);
        let mut all = Vec::new();
        for (origin, namespace) in
            [("", ""), ("ab", "c"), ("a", "bc"), ("abc", ""), ("", "abc"), ("a\0", "bc")]
        {
            for checkpoint in [id(0), id(1)] {
                let location = Location { origin, namespace, checkpoint };
                for field in ["", "f", "f\0"] {
                    for kind in [ChangeKind::Value, ChangeKind::Delta] {
                        for (position, count) in [(0, 1), (0, 2), (1, 2)] {
                            all.push(location.change(field, kind, position, count));
                        }
                    }
                }
                for task in [0, 1, RecordKey::NO_TASK] {
                    for kind in RecordKind::ALL {
                        for key in ["", "0000d:f", "f"] {
                            all.push(location.record(&RecordKey { task, kind, key: key.into() }));
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
