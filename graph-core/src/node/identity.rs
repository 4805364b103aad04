use std::any::TypeId;
use std::borrow::Cow;

/// The beginning of a graph: the source of its first edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start;

/// The beginning of a graph.
pub const START: Start = Start;

/// The end of a branch: the target of last edges and routes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End;

/// The end of a branch.
pub const END: End = End;

/// Which node is meant, before a graph has given it a place.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum NodeRef {
    /// [`START`].
    Start,
    /// [`END`].
    End,
    /// The function itself: a type without size that no other value shares.
    Function {
        /// The function's type.
        id: TypeId,
        /// Its own name.
        name: &'static str,
    },
    /// A node that was given a name.
    Named(Cow<'static, str>),
    /// A value that cannot be told from another of its type, and was given no name; `compile()` refuses it.
    Nameless {
        /// Its type.
        name: &'static str,
    },
}

impl NodeRef {
    /// The name, as pictures and messages show it.
    pub fn name(&self) -> &str {
        match self {
            Self::Start => "START",
            Self::End => "END",
            Self::Function { name, .. } | Self::Nameless { name } => name,
            Self::Named(name) => name,
        }
    }
}

/// A node with a name of its own; see [`named`].
#[derive(Clone, Copy, Debug)]
pub struct Named<N> {
    pub(crate) name: &'static str,
    pub(crate) node: N,
}

/// Gives a node a name: closures, nodes that carry something, and a second use of one function need it.
pub fn named<N>(name: &'static str, node: N) -> Named<N> {
    Named { name, node }
}

/// The last segment of a function's or type's path, without generic arguments.
pub(crate) fn own_name<T>() -> &'static str {
    let path = std::any::type_name::<T>();
    let path = path.split('<').next().unwrap_or(path);
    path.rsplit("::").next().unwrap_or(path)
}
