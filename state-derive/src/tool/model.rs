//! The meaning of a tool, without attribute syntax.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens as _;
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

    /// Returns `true` if the function is surely in an `impl` block, which is a mistake.
    pub(super) fn is_in_impl(&self) -> bool {
        self.signature.receiver().is_some() || self.self_type().is_some()
    }

    /// Returns a `Self` in the signature.
    pub(super) fn self_type(&self) -> Option<Ident> {
        fn find(tokens: TokenStream) -> Option<Ident> {
            tokens.into_iter().find_map(|token| match token {
                TokenTree::Ident(ident) => (ident == "Self").then_some(ident),
                TokenTree::Group(group) => find(group.stream()),
                _ => None,
            })
        }
        find(self.signature.to_token_stream())
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
