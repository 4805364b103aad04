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

    /// Converts each write, and returns the first error.
    pub(crate) fn try_map<V, E>(self, mut turn: impl FnMut(W) -> Result<V, E>) -> Result<Writes<V>, E> {
        let first = self.first.map(&mut turn).transpose()?;
        let rest = if self.rest.is_empty() {
            Vec::new()
        } else {
            self.rest.into_iter().map(turn).collect::<Result<_, E>>()?
        };
        Ok(Writes { first, rest })
    }

    /// Converts each write into another type, for flattened states.
    pub fn map<V>(self, lift: impl FnMut(W) -> V) -> Writes<V> {
        self.into_iter().map(lift).collect()
    }
}

impl<W> IntoIterator for Writes<W> {
    type Item = W;
    type IntoIter = std::iter::Chain<std::option::IntoIter<W>, std::vec::IntoIter<W>>;

    fn into_iter(self) -> Self::IntoIter {
        self.first.into_iter().chain(self.rest)
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
        iter.into_iter().for_each(|write| self.push(write));
    }
}
