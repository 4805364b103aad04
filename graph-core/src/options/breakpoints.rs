use crate::step::NodeRef;

/// The nodes before and after which every run pauses.
#[derive(Clone, Debug, Default)]
pub(crate) struct Breakpoints<T> {
    pub(crate) before: T,
    pub(crate) after: T,
}

/// The breakpoints of a run, in addition to those of its graph.
#[derive(Clone, Debug, Default)]
pub(crate) struct AddedBreakpoints {
    pub(crate) at_all: bool,
    pub(crate) at: Vec<NodeRef>,
}

impl AddedBreakpoints {
    pub(crate) fn add_named(&mut self, names: impl IntoIterator<Item: Into<String>>) {
        self.at.extend(names.into_iter().map(|name| NodeRef::Named(name.into().into())));
    }
}
