//! The setters of updates and inputs.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use syn::{GenericArgument, PathArguments, Type};

use crate::attr::reader;
use crate::state::model::{Field, Flat, Reducer};

use super::context::Context;
use super::fields::docs_or;
use super::span::UserSpans;

// #[inline] fn answer(mut self, answer: impl ReplaceArgument<Option<String>>) -> Self { .. self }
//
// rustdoc and rust-analyzer print types as written, so they get a parameter without aliases and private paths. The
// parameter has the field's name, like those of `input`: another name could be that of a constant of the user.
pub(super) fn field(cx: &Context<'_>, field: &Field, vis: TokenStream, push: TokenStream) -> TokenStream {
    let (runtime, krate, ident, ty) = (cx.runtime, cx.runtime.krate(), &field.ident, cx.ty(field));
    let docs = docs_or(&field.docs, || format!("Writes `{}`.", field.name()));
    let is_custom = field.reducer.is_custom();
    let marker = is_custom.then(|| quote!(<__M>));
    let (written, shown) = if is_custom {
        let takes = |reducer: TokenStream, ty: &TokenStream| match &field.reducer {
            Reducer::Function { takes, .. } => quote!(#takes),
            _ => quote!(<#reducer as #krate::reducers::Reducer<#ty>>::Update),
        };
        let shown = field.ty.to_token_stream();
        let (of_alias, of_type) = (takes(cx.reducer(field), &ty), takes(cx.shown_reducer(field), &shown));
        let shown = quote!(#krate::state::ReducerArgument<#of_type, #shown, __M>);
        (custom(cx, field, quote!(#of_alias, #ty)), shown)
    } else {
        let (reducer, shown) = (cx.shown_reducer(field), &field.ty);
        (built_in(cx, field, &ty), quote!(#krate::state::IntoChange<#reducer, #shown>))
    };
    let into_change = match &field.reducer {
        _ if is_custom => quote!(#runtime::ReducerArgument::into_change),
        Reducer::Replace => quote!(#runtime::ReplaceArgument::into_change),
        _ => quote!(#runtime::IntoChange::into_change),
    };
    let reader = reader();
    quote! {
        #(#docs)*
        #[inline]
        #vis fn #ident #marker(
            mut self,
            #[cfg(not(#reader))] #ident: impl #written,
            #[cfg(#reader)] #ident: impl #shown,
        ) -> Self {
            let __change = #into_change(#ident);
            #push
            self
        }
    }
}

fn custom(cx: &Context<'_>, field: &Field, arguments: TokenStream) -> TokenStream {
    let spans = UserSpans::of(&field.ty);
    let runtime = spans.runtime(cx.runtime);
    spans.around(quote!(#runtime::ReducerArgument<), arguments, quote!(, __M>))
}

// AppendStrings<<Vec<String> as Items>::Item, Append, Vec<String>>
//
// The trait has the words of rustc's message.
fn built_in(cx: &Context<'_>, field: &Field, ty: &TokenStream) -> TokenStream {
    let spans = UserSpans::of(&field.ty);
    let (runtime, reducer) = (spans.runtime(cx.runtime), cx.reducer(field));
    let (name, folded) = match &field.reducer {
        Reducer::BuiltIn { name, optional, .. } => (*name, optional.as_ref().unwrap_or(&field.ty)),
        _ => return spans.around(quote!(#runtime::ReplaceArgument<), quote!(#ty), quote!(>)),
    };
    let (argument, items) = match name {
        "Append" if is_string(folded) => ("AppendText", false),
        "Append" if has_strings(folded) => ("AppendStrings", true),
        "Append" => ("AppendItems", true),
        "Union" if has_strings(folded) => ("UnionStrings", true),
        "Union" => ("UnionItems", true),
        "Merge" => ("MergeEntries", true),
        "Add" => ("AddSummand", false),
        "Min" => ("MinValue", false),
        "Max" => ("MaxValue", false),
        "AddMessages" => ("AddedMessages", false),
        _ => ("AnyValueArgument", false),
    };
    let takes = match (items, name) {
        (true, _) => spans.around(quote!(<), quote!(#ty), quote!(as #runtime::Items>::Item)),
        // A type that does not fit is an error of the alias alone.
        (false, _) if matches!(&field.reducer, Reducer::BuiltIn { optional: Some(_), .. }) => {
            quote!(#folded)
        }
        (false, _) => ty.clone(),
    };
    let argument = format_ident!("{argument}");
    spans.around(quote!(#runtime::#argument<), quote!(#takes, #reducer, #ty), quote!(>))
}

fn is_string(ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "String"))
}

/// Returns `true` for a type such as `Vec<String>`.
fn has_strings(ty: &Type) -> bool {
    let Type::Path(path) = ty else { return false };
    let Some(last) = path.path.segments.last() else { return false };
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return false };
    matches!(arguments.args.first(), Some(GenericArgument::Type(item)) if is_string(item))
}

// fn chat(mut self, chat: impl IntoUpdate<Chat>) -> Self { .. self }
pub(super) fn flat(cx: &Context<'_>, flat: &Flat) -> TokenStream {
    let (runtime, ident, ty, vis) = (cx.runtime, &flat.ident, cx.flat_ty(flat), &flat.vis);
    let docs = docs_or(&flat.docs, || format!("Adds an update of `{ident}`."));
    let (krate, shown, reader) = (runtime.krate(), &flat.ty, reader());
    quote! {
        #(#docs)*
        #vis fn #ident(
            mut self,
            #[cfg(not(#reader))] #ident: impl #runtime::IntoUpdate<#ty>,
            #[cfg(#reader)] #ident: impl #krate::state::IntoUpdate<#shown>,
        ) -> Self {
            let __update = #runtime::IntoUpdate::<#ty>::into_update(#ident);
            let __added = #runtime::Update::<#ty>::__into_writes(__update).map(__Write::#ident);
            let Self::Written(__writes) = &mut self;
            ::core::iter::Extend::extend(#runtime::Sealed::get_mut(__writes), __added);
            self
        }
    }
}
