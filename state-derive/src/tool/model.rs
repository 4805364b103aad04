//! The meaning of a tool, without attribute syntax.

use proc_macro2::TokenStream;
use syn::{Attribute, Block, Ident, Signature, Type, Visibility};

pub(super) struct Tool {
    /// `superstep_agent::__private`.
    pub(super) runtime: TokenStream,
    pub(super) vis: Visibility,
    pub(super) docs: Vec<Attribute>,
    /// The other attributes, which stay on the function.
    pub(super) attrs: Vec<Attribute>,
    /// The name that the model uses.
    pub(super) name: String,
    pub(super) description: String,
    pub(super) params: Vec<Param>,
    /// The user's signature without the attributes of its parameters.
    pub(super) signature: Signature,
    pub(super) block: Box<Block>,
}

pub(super) struct Param {
    /// `None` if the parameter is a pattern, which is a mistake.
    pub(super) ident: Option<Ident>,
    pub(super) ty: Type,
    pub(super) kind: Kind,
}

pub(super) enum Kind {
    /// One argument of the model, with its attributes.
    Argument(Vec<Attribute>),
    /// All arguments of the model.
    AllArguments,
    /// A value from the run, such as the context.
    Provided,
}

impl Tool {
    /// Returns the name of the tool's type, which is the function's name.
    pub(super) fn ident(&self) -> &Ident {
        &self.signature.ident
    }

    /// Returns `true` if the function is a method, which is a mistake.
    pub(super) fn is_method(&self) -> bool {
        self.signature.receiver().is_some()
    }

    pub(super) fn arguments(&self) -> impl Iterator<Item = (&Param, &[Attribute])> {
        self.params.iter().filter_map(|param| match &param.kind {
            Kind::Argument(attrs) => Some((param, attrs.as_slice())),
            Kind::AllArguments | Kind::Provided => None,
        })
    }

    /// Returns the parameter with `#[tool(all)]`.
    pub(super) fn all_arguments(&self) -> Option<&Param> {
        self.params.iter().find(|param| matches!(param.kind, Kind::AllArguments))
    }
}
