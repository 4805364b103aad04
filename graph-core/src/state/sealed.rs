/// The contents of a generated type, out of reach of rustc's suggestions.
///
/// A generated type stands in the user's module, which sees its fields. A value of this type has no methods and no fields
/// there, so rustc never suggests to go through it.
pub struct Sealed<T>(T);

impl<T> Sealed<T> {
    /// Seals a value.
    #[inline]
    pub fn new(value: T) -> Self {
        Self(value)
    }

    /// Returns the value.
    #[inline]
    pub fn open(sealed: Self) -> T {
        sealed.0
    }

    /// Borrows the value.
    #[inline]
    pub fn get(sealed: &Self) -> &T {
        &sealed.0
    }

    /// Borrows the value to change it.
    #[inline]
    pub fn get_mut(sealed: &mut Self) -> &mut T {
        &mut sealed.0
    }
}
