use quote::format_ident;
use syn::ext::IdentExt;
use syn::{Generics, Ident, LitStr, Type, Visibility};

use crate::attr::Runtime;

/// A machine: its nodes, and what they have in common.
pub(crate) struct Machine {
    pub(crate) name: Ident,
    pub(crate) visibility: Visibility,
    pub(crate) generics: Generics,
    pub(crate) runtime: Runtime,
    /// In the order in which they are listed.
    pub(crate) nodes: Vec<Node>,
    /// What it ends with, if not with nothing.
    pub(crate) output: Option<Type>,
    /// What the nodes read and update, if anything.
    pub(crate) state: Option<Type>,
    /// What they read as `&ContextWith<_>`, if anything.
    pub(crate) context: Option<Type>,
}

/// One node of a machine: a type.
pub(crate) struct Node {
    pub(crate) ty: Type,
    /// The last name of its path: what the enum of all nodes calls it.
    pub(crate) variant: Ident,
    /// What pictures and checkpoints call it, if not by that name.
    pub(crate) stored: Option<LitStr>,
}

impl Machine {
    /// The enum of all nodes.
    pub(crate) fn any_node(&self) -> Ident {
        format_ident!("{}Node", self.name)
    }

    /// What a run holds.
    pub(crate) fn run(&self) -> Ident {
        format_ident!("{}Run", self.name)
    }
}

impl Node {
    pub(crate) fn name(&self) -> String {
        self.stored.as_ref().map_or_else(|| self.variant.unraw().to_string(), LitStr::value)
    }
}
