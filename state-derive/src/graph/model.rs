use proc_macro2::{Span, TokenStream};
use syn::{Expr, ExprPath, Path, Type};

/// The text of a graph.
pub(crate) struct Text {
    /// The path of the crate `superstep`.
    pub(crate) krate: Path,
    pub(crate) state: Type,
    pub(crate) context: Option<Type>,
    pub(crate) statements: Vec<Statement>,
    /// `defer a;`: nodes that run only when no other node is planned.
    pub(crate) deferred: Vec<Place>,
}

/// A place, and the ways that lead on from it: `START -> draft -> review -> { draft | END };`
pub(crate) struct Statement {
    pub(crate) first: Place,
    pub(crate) links: Vec<Link>,
}

/// One way, with its arrow.
pub(crate) struct Link {
    pub(crate) arrow: Span,
    pub(crate) way: Way,
}

pub(crate) enum Way {
    /// `-> b`
    Edge(Place),
    /// `=> b`, or `=>? b`
    Join { to: Place, optional: bool },
    /// `-> { b | END }`, or `-> { b | END } by decide`
    Route { targets: Vec<Single>, by: Option<Expr> },
}

/// A place in the text.
pub(crate) enum Place {
    One(Single),
    /// `(a, b)`
    Several(Vec<Single>, Span),
}

/// START, END or a node.
pub(crate) enum Single {
    Start(Span),
    End(Span),
    Node(Node),
}

/// A node.
pub(crate) struct Node {
    /// What identifies it in the text: the last segment.
    pub(crate) key: String,
    pub(crate) value: NodeValue,
}

pub(crate) enum NodeValue {
    /// A function, or a struct without fields.
    Path(ExprPath),
    /// `&bot`: a value with a name of its own.
    Value(TokenStream),
}

impl Place {
    pub(crate) fn singles(&self) -> &[Single] {
        match self {
            Self::One(single) => std::slice::from_ref(single),
            Self::Several(singles, _) => singles,
        }
    }
}

impl Single {
    pub(crate) fn node(&self) -> Option<&Node> {
        match self {
            Self::Node(node) => Some(node),
            Self::Start(_) | Self::End(_) => None,
        }
    }
}
