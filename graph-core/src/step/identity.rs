use std::any::TypeId;
use std::borrow::Cow;
use std::sync::Arc;

/// The type of [`START`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start;

/// The start of a graph: the source of its first edges.
pub const START: Start = Start;

/// The type of [`END`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End;

/// The end of a branch: the target of its last edge or route.
pub const END: End = End;

/// The identity of a node, before a graph has assigned an index to it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum NodeRef {
    /// [`START`].
    Start,
    /// [`END`].
    End,
    /// A function or a struct without fields: a zero-sized type that no other node shares.
    Function {
        /// The function's type.
        id: TypeId,
        /// The function's name.
        name: &'static str,
    },
    /// A node with an explicit name.
    Named(Cow<'static, str>),
    /// A value without a name, which cannot be told from another one of its type. `compile()` refuses it.
    Nameless {
        /// Its type.
        name: &'static str,
    },
}

impl NodeRef {
    /// Returns the name in pictures and messages.
    pub fn name(&self) -> &str {
        match self {
            Self::Start => "START",
            Self::End => "END",
            Self::Function { name, .. } | Self::Nameless { name } => name,
            Self::Named(name) => name,
        }
    }
}

/// A node with an explicit name; see [`named`].
pub struct Named<N> {
    pub(crate) name: Cow<'static, str>,
    pub(crate) node: Arc<N>,
}

/// Gives a node a name. Closures, structs with fields, and a second use of one function need one.
///
/// Clones of the result and references to it are the same node. Two calls with one name make two nodes of the same name,
/// which `compile()` refuses.
///
/// ```
/// # use superstep::{Context, END, GraphState, Node, START, StateGraph, named};
/// # #[derive(GraphState, Clone)]
/// # struct Log { #[state(reducer = append)] lines: Vec<String> }
/// struct Say(&'static str);
///
/// impl Node for Say {
///     type Reads = Log;
///     type Output = LogUpdate;
///
///     async fn run(&self, _: &Log, _: &Context) -> LogUpdate {
///         Log::update().lines([self.0.to_owned()])
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> superstep::Result<()> {
/// let (hello, bye) = (named("hello", Say("hello")), named("bye", Say("bye")));
/// let graph =
///     StateGraph::<Log>::new().edge(START, &hello).edge(&hello, &bye).edge(&bye, END).compile()?;
/// assert_eq!(graph.run(Log::input()).await?.into_state().lines, ["hello", "bye"]);
/// # Ok(())
/// # }
/// ```
pub fn named<N>(name: impl Into<Cow<'static, str>>, node: N) -> Named<N> {
    Named { name: name.into(), node: Arc::new(node) }
}

impl<N> Clone for Named<N> {
    fn clone(&self) -> Self {
        Self { name: self.name.clone(), node: Arc::clone(&self.node) }
    }
}

impl<N> std::fmt::Debug for Named<N> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Named").field(&self.name).finish()
    }
}

/// The last segment of a function's or type's path, without generic arguments.
pub(crate) fn own_name<T>() -> &'static str {
    last_segment(std::any::type_name::<T>())
}

fn last_segment(path: &'static str) -> &'static str {
    let mut depth = 0_usize;
    // Generic arguments at the end belong to the item. A `<T as Trait>` at the start does not.
    let arguments = path.char_indices().rev().take_while(|&(at, c)| {
        depth = match c {
            '>' => depth + 1,
            '<' => depth.saturating_sub(1),
            _ => depth,
        };
        depth > 0 || (c == '<' && at + 1 < path.len())
    });
    let end = arguments.last().map_or(path.len(), |(at, _)| at);
    let name = path.get(..end).unwrap_or(path).trim_end_matches("::");
    name.rsplit("::").next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::last_segment;

    #[test]
    fn function_name_is_the_last_segment() {
        for (path, name) in [
            ("work", "work"),
            ("a::b::work", "work"),
            ("a::work<alloc::vec::Vec<u8>>", "work"),
            ("<a::Worker as a::Work>::work", "work"),
            ("<a::Worker<u8> as a::Work>::work<a::B>", "work"),
            ("a::main::{{closure}}", "{{closure}}"),
            ("a::main::{{closure}}::work", "work"),
        ] {
            assert_eq!(last_segment(path), name);
        }
    }
}
