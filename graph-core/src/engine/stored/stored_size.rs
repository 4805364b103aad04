/// The stored bytes that a read of a field touches, and the size at which a snapshot is considered.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StoredSize {
    stored: usize,
    look_at: usize,
}

/// The size below which a snapshot gains nothing.
const SMALL: usize = 512;

impl StoredSize {
    /// Returns the size of a field that was stored as a whole value.
    pub(crate) fn whole(bytes: usize) -> Self {
        Self { stored: bytes, look_at: bytes.saturating_mul(2).max(SMALL) }
    }

    /// Returns the size of a field that was read from several changes.
    pub(crate) fn read(bytes: usize) -> Self {
        Self { stored: bytes, look_at: bytes.saturating_add(bytes / 4).max(SMALL) }
    }

    /// Adds deltas. Returns `true` when the size of the value itself should be checked.
    pub(crate) fn grow(&mut self, bytes: usize) -> bool {
        self.stored = self.stored.saturating_add(bytes);
        self.stored > self.look_at
    }

    /// Returns `true` if a value of `value` bytes should be stored as a whole, because its stored changes are more
    /// than twice as large.
    ///
    /// If not, the next check comes when that may have changed. A map that only grows is checked each time its size
    /// has doubled. The total cost per byte is constant, and the map is never stored as a whole again.
    pub(crate) fn outweighs(&mut self, value: usize) -> bool {
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

    /// Stores `deltas` deltas of a value whose size is a function of their number. Returns the worst ratio of a read
    /// to the value, the number of snapshots, and the bytes encoded for checks.
    fn run(deltas: usize, delta: usize, value: impl Fn(usize) -> usize) -> (f64, usize, usize) {
        let (mut size, mut worst, mut snapshots, mut looked) = (StoredSize::whole(2), 0.0_f64, 0, 0);
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
    fn growing_map_is_never_stored_as_a_whole() {
        let (worst, snapshots, looked) = run(10_000, 200, |n| n * 200);
        assert_eq!(snapshots, 0);
        assert!(worst <= 1.01, "{worst}");
        assert!(looked <= 2 * 10_000 * 200, "{looked}");
    }

    #[test]
    fn map_with_replaced_keys_is_read_at_about_twice_its_size() {
        let (worst, snapshots, looked) = run(10_000, 200, |n| n.min(50) * 200);
        assert!(worst <= 2.5, "{worst}");
        assert!((100..=250).contains(&snapshots), "{snapshots}");
        assert!(looked <= 3 * 10_000 * 200, "{looked}");
    }
}
