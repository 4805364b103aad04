/// Where runs stop on the way: what stands for the nodes before which, and after which, they do.
#[derive(Clone, Debug, Default)]
pub(crate) struct Breakpoints<T> {
    pub(crate) before: T,
    pub(crate) after: T,
}
