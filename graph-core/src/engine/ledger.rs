use crate::state::{FieldWrite, WriteKind};

/// Who writes which field in one superstep; kept between supersteps so that it allocates once.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    slots: Vec<Slot>,
    touched: Vec<usize>,
}

#[derive(Clone, Debug, Default)]
struct Slot {
    writer: Option<usize>,
    /// Another task writes it too.
    shared: bool,
    exclusive: bool,
    overwriter: Option<usize>,
    /// Another task overwrites it too.
    contested: bool,
}

/// A field that several tasks may not write together.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Clash {
    pub(super) field: usize,
    pub(super) overwrite: bool,
}

impl Ledger {
    /// Empties the ledger for a superstep of a state with so many fields.
    pub(super) fn open(&mut self, fields: usize) {
        self.slots.resize(fields, Slot::default());
        for field in self.touched.drain(..) {
            if let Some(slot) = self.slots.get_mut(field) {
                *slot = Slot::default();
            }
        }
    }

    /// Enters one write of the task at `task`.
    pub(super) fn enter<S>(&mut self, task: usize, write: &impl FieldWrite<S>) {
        let Some(slot) = self.slots.get_mut(write.field()) else { return };
        match slot.writer {
            None => {
                slot.writer = Some(task);
                self.touched.push(write.field());
            }
            Some(writer) => slot.shared |= writer != task,
        }
        match write.kind() {
            WriteKind::Exclusive => slot.exclusive = true,
            WriteKind::Folded => {}
            WriteKind::Overwrite => match slot.overwriter {
                None => slot.overwriter = Some(task),
                Some(overwriter) => slot.contested |= overwriter != task,
            },
        }
    }

    /// The first clash, in the order of the writes.
    pub(super) fn clash(&self) -> Option<Clash> {
        self.clashes().next()
    }

    /// Every clash, in this order.
    pub(super) fn clashes(&self) -> impl Iterator<Item = Clash> {
        self.touched.iter().filter_map(|&field| {
            let slot = self.slots.get(field)?;
            let clash = slot.contested || (slot.overwriter.is_none() && slot.exclusive && slot.shared);
            clash.then_some(Clash { field, overwrite: slot.contested })
        })
    }

    /// Whether a write counts: an overwrite silences the field's other writes.
    pub(super) fn counts<S>(&self, write: &impl FieldWrite<S>) -> bool {
        write.kind() == WriteKind::Overwrite
            || self.slots.get(write.field()).is_none_or(|slot| slot.overwriter.is_none())
    }

    /// The fields written, in the order of their first writes.
    pub(super) fn touched(&self) -> &[usize] {
        &self.touched
    }
}
