use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{format_ident, quote};
use syn::parse::Parser;
use syn::{Attribute, GenericParam, Generics, Meta, Path};

use super::Runtime;

/// The words of attributes, for rust-analyzer.
///
/// In code that only rust-analyzer reads, every word is the name of an item in `superstep::attributes`, so it completes the
/// word and shows its documentation. A value such as the function of `reducer = ..` is a name in a function without other
/// names of the derive.
///
/// rust-analyzer completes in the expansion of the incomplete attribute, at the place that the word has in the expansion of
/// the attribute before. So this code begins the expansion, also after a mistake, and its shape does not depend on whether
/// a word is known.
pub(crate) struct Words<'a> {
    runtime: &'a Runtime,
    generics: &'a Generics,
    names: Vec<TokenStream>,
    values: Vec<TokenStream>,
}

/// The words of an attribute, or of a list inside an attribute.
pub(crate) struct Table {
    /// The module of the words in `superstep::attributes`.
    pub(crate) module: &'static str,
    /// The keys with a function or a value: `key = path`, or `key(path)`. The string names the module with the words that
    /// may stand there too, if it is not empty.
    pub(crate) values: &'static [(&'static str, &'static str)],
    /// The keys with a list.
    pub(crate) lists: &'static [(&'static str, &'static Table)],
}

impl<'a> Words<'a> {
    pub(crate) fn new(runtime: &'a Runtime, generics: &'a Generics) -> Self {
        Self { runtime, generics, names: Vec::new(), values: Vec::new() }
    }

    /// Adds the words of every attribute called `name`.
    pub(crate) fn add(&mut self, attrs: &[Attribute], name: &str, table: &Table) {
        for attr in attrs.iter().filter(|attr| attr.path().is_ident(name)) {
            if let Meta::List(list) = &attr.meta {
                self.list(list.tokens.clone(), table);
            }
        }
    }

    fn list(&mut self, tokens: TokenStream, table: &Table) {
        let mut keys = Vec::new();
        let mut inside = Words::new(self.runtime, self.generics);
        let tokens: Vec<_> = tokens.into_iter().collect();
        for item in tokens.split(|token| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ',')) {
            let Some((TokenTree::Ident(key), rest)) = item.split_first() else { continue };
            // A keyword is no name of an item.
            let name = key.to_string();
            if syn::parse_str::<Ident>(&name).is_ok() {
                keys.push(key.clone());
                inside.value(&name, rest, table);
            }
        }
        let (krate, module) = (self.runtime.krate(), format_ident!("{}", table.module));
        self.names.push(quote!(use #krate::attributes::#module::{#(#keys,)*};));
        self.names.append(&mut inside.names);
        self.values.append(&mut inside.values);
    }

    fn value(&mut self, key: &str, rest: &[TokenTree], table: &Table) {
        let (tokens, list) = match rest {
            [TokenTree::Group(list)] => (list.stream(), true),
            [TokenTree::Punct(equals), value @ ..] if equals.as_char() == '=' => {
                (value.iter().cloned().collect(), false)
            }
            _ => return,
        };
        if list && let Some((_, table)) = table.lists.iter().find(|(name, _)| *name == key) {
            return self.list(tokens, table);
        }
        let Some((_, module)) = table.values.iter().find(|(name, _)| *name == key) else { return };
        let is_type = match Path::parse_mod_style.parse2(tokens.clone()) {
            Ok(path) if self.is_in_scope(&path) => is_type(&path),
            Err(_) if tokens.is_empty() => false,
            _ => return,
        };
        let module = (!module.is_empty()).then(|| {
            let (krate, module) = (self.runtime.krate(), format_ident!("{module}"));
            quote!(use #krate::attributes::#module::*;)
        });
        self.values.push(if is_type {
            quote!(let _: (#tokens);)
        } else {
            quote!(#module let _ = (#tokens);)
        });
    }

    /// Returns `true` unless the path names something that only the expansion has.
    fn is_in_scope(&self, path: &Path) -> bool {
        path.segments.first().is_some_and(|first| {
            first.ident != "Self"
                && !self.generics.params.iter().any(|param| match param {
                    GenericParam::Type(param) => param.ident == first.ident,
                    GenericParam::Const(param) => param.ident == first.ident,
                    GenericParam::Lifetime(_) => false,
                })
        })
    }

    /// Returns the code that stands first in the expansion.
    pub(crate) fn code(self) -> Option<TokenStream> {
        let Self { names, values, .. } = self;
        (!names.is_empty()).then(|| {
            quote! {
                #[doc(hidden)]
                #[allow(unexpected_cfgs)]
                const _: () = {
                    #[cfg(rust_analyzer)]
                    const _: () = { #({ #names })* #({ #values })* };
                };
            }
        })
    }
}

fn is_type(path: &Path) -> bool {
    let last = path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
    last.starts_with(char::is_uppercase) && last.contains(char::is_lowercase)
}
