/// The writes of one update, in order.
///
/// It contains only the written fields, so the cost does not depend on the number of fields. The first write is stored
/// inline: an update of one field allocates nothing.
#[derive(Clone, Debug)]
pub struct Writes<W> {
    first: Option<W>,
    rest: Vec<W>,
}

impl<W> Default for Writes<W> {
    fn default() -> Self {
        Self { first: None, rest: Vec::new() }
    }
}

impl<W> Writes<W> {
    /// Appends a write.
    pub fn push(&mut self, write: W) {
        if self.first.is_none() {
            self.first = Some(write);
        } else {
            self.rest.push(write);
        }
    }

    /// Returns the number of writes.
    pub fn len(&self) -> usize {
        usize::from(self.first.is_some()) + self.rest.len()
    }

    /// Returns `true` if there are no writes.
    pub fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    /// Iterates over the writes in order.
    pub fn iter(&self) -> impl Iterator<Item = &W> {
        self.first.iter().chain(&self.rest)
    }

    /// Returns the nth write.
    pub(crate) fn get(&self, nth: usize) -> Option<&W> {
        match nth.checked_sub(1) {
            None => self.first.as_ref(),
            Some(nth) => self.rest.get(nth),
        }
    }

    /// Takes out the only write; `None` if there is none, or more than one.
    #[inline]
    pub(crate) fn take_only(&mut self) -> Option<W> {
        if self.rest.is_empty() { self.first.take() } else { None }
    }

    /// Takes out all writes, in order, and stops at the first error. The writes after it are dropped.
    #[inline]
    pub(crate) fn try_take_each<E>(&mut self, mut take: impl FnMut(W) -> Result<(), E>) -> Result<(), E> {
        let Some(first) = self.first.take() else { return Ok(()) };
        if self.rest.is_empty() {
            return take(first);
        }
        let rest = std::mem::take(&mut self.rest);
        take(first)?;
        rest.into_iter().try_for_each(take)
    }

    /// Converts each write in its place, and returns the first error. No write is left after an error.
    #[inline]
    pub(crate) fn try_map<E>(&mut self, mut turn: impl FnMut(W) -> Result<W, E>) -> Result<(), E> {
        if let Some(write) = self.first.take() {
            match turn(write) {
                Ok(write) => self.first = Some(write),
                Err(error) => {
                    self.rest.clear();
                    return Err(error);
                }
            }
        }
        if self.rest.is_empty() { Ok(()) } else { self.try_map_rest(turn) }
    }

    fn try_map_rest<E>(&mut self, mut turn: impl FnMut(W) -> Result<W, E>) -> Result<(), E> {
        let Self { first, mut rest } = std::mem::take(self);
        for nth in 0..rest.len() {
            // The last write fills the gap until the converted one takes its place: no second list is allocated.
            let write = rest.swap_remove(nth);
            rest.push(turn(write)?);
            let last = rest.len() - 1;
            rest.swap(nth, last);
        }
        *self = Self { first, rest };
        Ok(())
    }

    /// Converts each write into another type, for flattened states.
    pub fn map<V>(self, lift: impl FnMut(W) -> V) -> Writes<V> {
        self.into_iter().map(lift).collect()
    }
}

impl<W> IntoIterator for Writes<W> {
    type Item = W;
    type IntoIter = IntoWrites<W>;

    fn into_iter(self) -> IntoWrites<W> {
        IntoWrites { first: self.first, rest: self.rest.into_iter() }
    }
}

/// The writes of an update, one by one.
// Not a `Chain`, whose adapters would be compiled for each state.
#[derive(Debug)]
pub struct IntoWrites<W> {
    first: Option<W>,
    rest: std::vec::IntoIter<W>,
}

impl<W> Iterator for IntoWrites<W> {
    type Item = W;

    #[inline]
    fn next(&mut self) -> Option<W> {
        match self.first.take() {
            None => self.rest.next(),
            write => write,
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let count = usize::from(self.first.is_some()) + self.rest.len();
        (count, Some(count))
    }
}

impl<W> FromIterator<W> for Writes<W> {
    fn from_iter<I: IntoIterator<Item = W>>(iter: I) -> Self {
        let mut iter = iter.into_iter();
        Self { first: iter.next(), rest: iter.collect() }
    }
}

impl<W> Extend<W> for Writes<W> {
    fn extend<I: IntoIterator<Item = W>>(&mut self, iter: I) {
        for write in iter {
            self.push(write);
        }
    }
}
