use crate::erased::TaskWrites;
use crate::state::WriteKind;

/// The write set of one superstep: the tasks that write each field. Kept between supersteps so that it allocates
/// once.
#[derive(Debug, Default)]
pub(crate) struct WriteSet {
    slots: Vec<Slot>,
    touched: Vec<usize>,
}

#[derive(Clone, Debug, Default)]
struct Slot {
    writer: Option<usize>,
    /// `true` if another task writes the field too.
    shared: bool,
    exclusive: bool,
    overwriter: Option<usize>,
    /// `true` if another task overwrites the field too.
    contested: bool,
}

/// A conflict: several tasks write a field that only one of them may write.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct WriteConflict {
    pub(crate) field: usize,
    pub(crate) overwrite: bool,
}

impl WriteSet {
    /// Empties the write set for a superstep of a state with this number of fields.
    pub(crate) fn open(&mut self, fields: usize) {
        self.slots.resize(fields, Slot::default());
        for field in self.touched.drain(..) {
            if let Some(slot) = self.slots.get_mut(field) {
                *slot = Slot::default();
            }
        }
    }

    /// Empties the write set for a superstep with one task, whose writes cannot conflict. Returns the list of the written
    /// fields, to be filled.
    pub(crate) fn open_alone(&mut self) -> &mut Vec<usize> {
        for field in &self.touched {
            if let Some(slot) = self.slots.get_mut(*field) {
                *slot = Slot::default();
            }
        }
        self.touched.clear();
        &mut self.touched
    }

    /// Records the writes of the task with index `task`.
    pub(crate) fn enter(&mut self, task: usize, writes: &TaskWrites) {
        writes.targets().for_each(|(field, kind)| self.enter_one(task, field, kind));
    }

    fn enter_one(&mut self, task: usize, field: usize, kind: WriteKind) {
        let Some(slot) = self.slots.get_mut(field) else { return };
        match slot.writer {
            None => {
                slot.writer = Some(task);
                self.touched.push(field);
            }
            Some(writer) => slot.shared |= writer != task,
        }
        match kind {
            WriteKind::Exclusive => slot.exclusive = true,
            WriteKind::Folded => {}
            WriteKind::Overwrite => match slot.overwriter {
                None => slot.overwriter = Some(task),
                Some(overwriter) => slot.contested |= overwriter != task,
            },
        }
    }

    /// Returns the first conflict, in the order of the writes.
    pub(crate) fn conflict(&self) -> Option<WriteConflict> {
        self.conflicts().next()
    }

    /// Returns every conflict, in the same order.
    pub(crate) fn conflicts(&self) -> impl Iterator<Item = WriteConflict> {
        self.touched.iter().filter_map(|&field| {
            let slot = self.slots.get(field)?;
            let conflict = slot.contested || (slot.overwriter.is_none() && slot.exclusive && slot.shared);
            conflict.then_some(WriteConflict { field, overwrite: slot.contested })
        })
    }

    /// Returns `true` if the write takes effect. An overwrite cancels all other writes to its field.
    pub(crate) fn counts(&self, field: usize, kind: WriteKind) -> bool {
        kind == WriteKind::Overwrite || self.slots.get(field).is_none_or(|slot| slot.overwriter.is_none())
    }

    /// Returns the written fields, in the order of their first writes.
    pub(crate) fn touched(&self) -> &[usize] {
        &self.touched
    }
}
