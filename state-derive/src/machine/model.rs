use quote::format_ident;
use syn::ext::IdentExt;
use syn::{Generics, Ident, LitStr, Type, Visibility};

use crate::attr::Runtime;

/// A machine: its nodes and their common settings.
pub(crate) struct Machine {
    pub(crate) name: Ident,
    pub(crate) visibility: Visibility,
    pub(crate) generics: Generics,
    pub(crate) runtime: Runtime,
    /// The nodes, in the order of the list.
    pub(crate) nodes: Vec<Node>,
    /// The output type; `()` if `None`.
    pub(crate) output: Option<Type>,
    /// The state type; no state if `None`.
    pub(crate) state: Option<Type>,
    /// The application context that nodes read as `&ContextWith<_>`, if any.
    pub(crate) context: Option<Type>,
}

/// One node of a machine: a type.
pub(crate) struct Node {
    pub(crate) ty: Type,
    /// The last segment of its path, which names its variant in the enum of all nodes.
    pub(crate) variant: Ident,
    /// The name in diagrams and checkpoints, if it differs from the variant.
    pub(crate) stored: Option<LitStr>,
}

impl Machine {
    /// Returns the name of the enum of all nodes.
    pub(crate) fn any_node(&self) -> Ident {
        format_ident!("{}Node", self.name)
    }

    /// Returns the name of the state of a run.
    pub(crate) fn run(&self) -> Ident {
        format_ident!("{}Run", self.name)
    }
}

impl Node {
    pub(crate) fn name(&self) -> String {
        self.stored.as_ref().map_or_else(|| self.variant.unraw().to_string(), LitStr::value)
    }
}
