use syn::ext::IdentExt;
use syn::{ExprPath, Generics, Ident, LitStr, Type};

use crate::attr::Runtime;

/// A route: the ways out of a node.
pub(crate) struct Route {
    pub(crate) name: Ident,
    pub(crate) generics: Generics,
    pub(crate) runtime: Runtime,
    pub(crate) exits: Vec<Exit>,
}

/// One way out: a variant.
pub(crate) struct Exit {
    pub(crate) variant: Ident,
    /// What pictures and messages call it, if not by the variant's name.
    pub(crate) label: Option<LitStr>,
    /// Where it leads to; `None` when the variant does not say.
    pub(crate) to: Option<Vec<Place>>,
    /// What is sent along.
    pub(crate) payload: Option<Type>,
}

/// One destination.
pub(crate) enum Place {
    /// A function, a node struct, or `END`: checked by rustc.
    Value(ExprPath),
    /// A node that was given this name: checked when the graph is compiled.
    Named(LitStr),
}

impl Exit {
    pub(crate) fn label(&self) -> String {
        self.label.as_ref().map_or_else(|| self.variant.unraw().to_string(), LitStr::value)
    }
}

impl quote::ToTokens for Place {
    fn to_tokens(&self, tokens: &mut proc_macro2::TokenStream) {
        match self {
            Self::Value(path) => path.to_tokens(tokens),
            Self::Named(name) => name.to_tokens(tokens),
        }
    }
}
