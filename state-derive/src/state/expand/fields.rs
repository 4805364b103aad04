//! Small pieces about fields.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, parse_quote};

use crate::state::model::{Field, Member, Start};

use super::context::Context;
use super::span::Over;

/// The field's own documentation, or a sentence in its stead.
pub(super) fn docs_or(docs: &[Attribute], otherwise: impl FnOnce() -> String) -> Vec<Attribute> {
    if docs.is_empty() {
        let text = otherwise();
        return vec![parse_quote!(#[doc = #text])];
    }
    docs.to_vec()
}

/// `match` over an enum that may have no variant; `place` is what a reference points to.
pub(super) fn cases(place: TokenStream, arms: impl IntoIterator<Item = TokenStream>) -> TokenStream {
    let mut arms = arms.into_iter().peekable();
    if arms.peek().is_none() { quote!(match *#place {}) } else { quote!(match #place { #(#arms)* }) }
}

/// One arm for each variant of the enums of writes and of undos, which have the fields' names.
pub(super) fn arms(cx: &Context<'_>, arm: impl Fn(&Member) -> TokenStream) -> Vec<TokenStream> {
    cx.state.members.iter().map(arm).collect()
}

/// The value at the start of a fresh run.
pub(super) fn start_value(cx: &Context<'_>, field: &Field) -> TokenStream {
    match &field.start {
        Start::Expr(expr) => quote!(#expr),
        Start::Default => {
            let over = Over::of(&field.ty);
            let (runtime, ty) = (over.runtime(cx.runtime), cx.ty(field));
            let start = over.around(quote!(<), quote!(#ty), quote!(as #runtime::StartValue>::start));
            quote!(#start())
        }
    }
}
