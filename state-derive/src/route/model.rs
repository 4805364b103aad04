use syn::ext::IdentExt;
use syn::{ExprPath, Generics, Ident, LitStr, Type};

use crate::attr::Runtime;

/// A route: the exits of a node.
pub(crate) struct Route {
    pub(crate) name: Ident,
    pub(crate) generics: Generics,
    pub(crate) runtime: Runtime,
    pub(crate) exits: Vec<Exit>,
}

/// One exit: a variant of the enum.
pub(crate) struct Exit {
    pub(crate) variant: Ident,
    /// The name in diagrams and messages, if it differs from the variant.
    pub(crate) label: Option<LitStr>,
    /// The destinations; `None` if the variant has no `#[to(..)]`.
    pub(crate) to: Option<Vec<Destination>>,
    /// The payload that is sent to the destinations.
    pub(crate) payload: Option<Type>,
}

/// One destination.
pub(crate) enum Destination {
    /// A function, a node struct, or `END`. rustc checks it.
    Path(ExprPath),
    /// The name of a node. Compiling the graph checks it.
    Name(LitStr),
}

impl Exit {
    pub(crate) fn label(&self) -> String {
        self.label.as_ref().map_or_else(|| self.variant.unraw().to_string(), LitStr::value)
    }
}

impl quote::ToTokens for Destination {
    fn to_tokens(&self, tokens: &mut proc_macro2::TokenStream) {
        match self {
            Self::Path(path) => path.to_tokens(tokens),
            Self::Name(name) => name.to_tokens(tokens),
        }
    }
}
