//! What a tool is, without the syntax in which it was said.

use proc_macro2::TokenStream;
use syn::{Attribute, Block, Ident, Signature, Type, Visibility};

pub(super) struct Tool {
    /// `superstep_agent::__private`.
    pub(super) runtime: TokenStream,
    pub(super) vis: Visibility,
    pub(super) docs: Vec<Attribute>,
    /// All others, which stay with the function.
    pub(super) attrs: Vec<Attribute>,
    /// What the model calls it.
    pub(super) name: String,
    pub(super) description: String,
    pub(super) params: Vec<Param>,
    /// The function as it was written, but for the attributes of its parameters.
    pub(super) signature: Signature,
    pub(super) block: Box<Block>,
}

pub(super) struct Param {
    /// None where the parameter is a pattern, which is a mistake.
    pub(super) ident: Option<Ident>,
    pub(super) ty: Type,
    pub(super) kind: Kind,
}

pub(super) enum Kind {
    /// One of the arguments, with what stands on it.
    Argument(Vec<Attribute>),
    /// All of them.
    Arguments,
    /// A part of the run.
    Provided,
}

impl Tool {
    /// The tool's type, which has the function's name.
    pub(super) fn ident(&self) -> &Ident {
        &self.signature.ident
    }

    pub(super) fn arguments(&self) -> impl Iterator<Item = (&Param, &[Attribute])> {
        self.params.iter().filter_map(|param| match &param.kind {
            Kind::Argument(attrs) => Some((param, attrs.as_slice())),
            Kind::Arguments | Kind::Provided => None,
        })
    }

    /// The type that has all arguments, if the tool takes one.
    pub(super) fn whole(&self) -> Option<&Param> {
        self.params.iter().find(|param| matches!(param.kind, Kind::Arguments))
    }
}
