/// How many bytes a read of a field touches, and when to look whether a snapshot would make it fewer.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Size {
    stored: usize,
    look_at: usize,
}

/// Below this, nothing is gained by a snapshot.
const SMALL: usize = 512;

impl Size {
    /// A field that was stored as a whole.
    pub(super) fn whole(bytes: usize) -> Self {
        Self { stored: bytes, look_at: bytes.saturating_mul(2).max(SMALL) }
    }

    /// A field as it was read, in pieces.
    pub(super) fn read(bytes: usize) -> Self {
        Self { stored: bytes, look_at: bytes.saturating_add(bytes / 4).max(SMALL) }
    }

    /// Adds deltas; `true` when it is time to look at how large the value itself is.
    pub(super) fn grow(&mut self, bytes: usize) -> bool {
        self.stored = self.stored.saturating_add(bytes);
        self.stored > self.look_at
    }

    /// Whether a value of so many bytes is to be stored as a whole: its pieces outweigh it.
    ///
    /// If not, it is looked at again when they might. A map that only grows is looked at whenever it has doubled, which
    /// costs each of its bytes a constant in all, and never stored as a whole again.
    pub(super) fn outweighs(&mut self, value: usize) -> bool {
        if self.stored > value.saturating_mul(2) {
            *self = Self::whole(value);
            return true;
        }
        self.look_at = value.saturating_mul(2).max(self.stored.saturating_add(self.stored / 4));
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stores so many deltas of a value whose size is a function of their number; gives back the largest read in terms of
    /// the value, how many snapshots there were, and how many bytes were encoded to look.
    fn run(deltas: usize, delta: usize, value: impl Fn(usize) -> usize) -> (f64, usize, usize) {
        let (mut size, mut worst, mut snapshots, mut looked) = (Size::whole(2), 0.0_f64, 0, 0);
        for n in 1..=deltas {
            if size.grow(delta) {
                looked += value(n);
                snapshots += usize::from(size.outweighs(value(n)));
            }
            if size.stored > SMALL {
                #[expect(clippy::cast_precision_loss, reason = "a ratio")]
                let ratio = size.stored as f64 / value(n) as f64;
                worst = worst.max(ratio);
            }
        }
        (worst, snapshots, looked)
    }

    #[test]
    fn a_map_that_grows_is_never_stored_as_a_whole() {
        let (worst, snapshots, looked) = run(10_000, 200, |n| n * 200);
        assert_eq!(snapshots, 0);
        assert!(worst <= 1.01, "{worst}");
        assert!(looked <= 2 * 10_000 * 200, "{looked}");
    }

    #[test]
    fn a_map_whose_keys_are_replaced_is_read_at_about_twice_its_size() {
        let (worst, snapshots, looked) = run(10_000, 200, |n| n.min(50) * 200);
        assert!(worst <= 2.5, "{worst}");
        assert!((100..=250).contains(&snapshots), "{snapshots}");
        assert!(looked <= 3 * 10_000 * 200, "{looked}");
    }
}
