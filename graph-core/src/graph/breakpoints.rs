/// The nodes before and after which every run pauses.
#[derive(Clone, Debug, Default)]
pub(crate) struct Breakpoints<T> {
    pub(crate) before: T,
    pub(crate) after: T,
}
