/// The writes of one update, in the order in which they were made.
///
/// It holds what was written and nothing for what was not, so a state may have any number of fields. The first
/// write lies inline: the common update of one field allocates nothing.
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
    /// Adds a write behind the others.
    pub fn push(&mut self, write: W) {
        if self.first.is_none() {
            self.first = Some(write);
        } else {
            self.rest.push(write);
        }
    }

    /// How many writes there are.
    pub fn len(&self) -> usize {
        usize::from(self.first.is_some()) + self.rest.len()
    }

    /// Whether nothing is written.
    pub fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    /// The writes in order.
    pub fn iter(&self) -> impl Iterator<Item = &W> {
        self.first.iter().chain(&self.rest)
    }

    /// Takes out the first write, of an update that has no other.
    pub(crate) fn take_first(&mut self) -> Option<W> {
        self.first.take()
    }

    /// Each write turned into another, or the first error.
    pub(crate) fn try_map<V, E>(self, mut turn: impl FnMut(W) -> Result<V, E>) -> Result<Writes<V>, E> {
        let first = self.first.map(&mut turn).transpose()?;
        let rest = if self.rest.is_empty() {
            Vec::new()
        } else {
            self.rest.into_iter().map(turn).collect::<Result<_, E>>()?
        };
        Ok(Writes { first, rest })
    }

    /// The same writes under another type, for flattened states.
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
