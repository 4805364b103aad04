//! Generates the validation of fields and of the state.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};

use crate::state::model::Field;
use crate::state::rule::{Rule, RuleKind, source};

use super::context::Context;
use super::json::writer_path;
use super::span::UserSpans;

// fn validate_field(&self, index: usize, report: &mut Report) {
//     match index {
//         0 => { let value = &self.question; check_rule(report, 0, "question", "length(min = 1)", rules::length(..), || shown(value)); }
//         _ => {}
//     }
// }
// fn check_invariant(&self) -> Result<(), Violation> { check_invariant("path", path(self))?; Ok(()) }
pub(super) fn methods(cx: &Context<'_>) -> TokenStream {
    let (runtime, index) = (cx.runtime, format_ident!("__index"));
    let arms = cx.state.fields().filter(|field| !field.rules.is_empty()).map(|field| {
        let (index, ident, checks) = (field.index, &field.ident, rules(cx, field));
        quote!(#index => { let __value = &self.#ident; #checks })
    });
    let descend = cx.descend(&index, |flat| {
        let (ident, state, offset) = (&flat.ident, cx.flat(flat), cx.offset(flat));
        quote! {
            __report.__nested(#offset, |__report| #state::validate_field(&self.#ident, __rest, __report))
        }
    });
    let invariants = cx.state.invariants.iter().map(|path| {
        let (text, spans) = (source(path), UserSpans::of(path));
        let result = spans.call(path, quote!(self));
        // A type that does not fit is underlined at the path.
        let check = spans.all(quote!(#runtime::check_invariant));
        quote!(#check(#text, #result)?;)
    });
    let flats = cx.state.flats().map(|flat| {
        let (ident, state) = (&flat.ident, cx.flat(flat));
        quote!(#state::check_invariant(&self.#ident)?;)
    });
    quote! {
        fn validate_field(&self, #index: ::core::primitive::usize, __report: &mut #runtime::Report) {
            match #index {
                #(#arms)*
                _ => { #descend }
            }
        }
        fn check_invariant(&self) -> ::core::result::Result<(), #runtime::Violation> {
            #(#flats)*
            #(#invariants)*
            ::core::result::Result::Ok(())
        }
    }
}

/// Checks `__value` by the rules of a field.
pub(super) fn rules(cx: &Context<'_>, field: &Field) -> TokenStream {
    field.rules.iter().map(|rule| check(cx, field, rule)).collect()
}

fn check(cx: &Context<'_>, field: &Field, rule: &Rule) -> TokenStream {
    let (runtime, index, name, text) = (cx.runtime, field.index, field.name(), rule.text());
    let call = call(cx, rule, quote!(__value));
    if !field.dumped {
        return quote!(#runtime::check_excluded_rule(__report, #index, #name, #text, #call););
    }
    let shown = match &field.codec.write {
        None => {
            let ty = cx.ty(field);
            quote!(#runtime::shown::<#ty>(__value))
        }
        Some(writer) => {
            let writer = writer_path(cx, field, writer);
            quote!(#runtime::shown_with(|__to| #writer(__value, __to)))
        }
    };
    quote!(#runtime::check_rule(__report, #index, #name, #text, #call, || #shown);)
}

/// Generates the call of the rule's function with `given`. rustc underlines the rule's name if the type does not fit.
fn call(cx: &Context<'_>, rule: &Rule, given: TokenStream) -> TokenStream {
    let key = &rule.key;
    let (at, runtime) = (key.span(), UserSpans::of(key).runtime(cx.runtime));
    // rustc underlines the argument, so a variable with the rule's span is passed. `given` may have other hygiene.
    let value = Ident::new("__checked", at);
    let call = match &rule.kind {
        RuleKind::Length { min, max } => {
            let min = min.as_ref().map_or_else(|| quote_spanned!(at=> 0), |min| quote!(#min));
            let max = max
                .as_ref()
                .map_or_else(|| quote_spanned!(at=> ::core::primitive::usize::MAX), |max| quote!(#max));
            quote_spanned!(at=> #runtime::rules::length(#value, #min, #max))
        }
        RuleKind::Range { min, max } => {
            let bound = |bound: &Option<syn::Expr>| match bound {
                Some(bound) => quote_spanned!(at=> ::core::option::Option::Some(#bound)),
                None => quote_spanned!(at=> ::core::option::Option::None),
            };
            let (min, max) = (bound(min), bound(max));
            quote_spanned!(at=> #runtime::rules::range(#value, #min, #max))
        }
        RuleKind::Plain => quote_spanned!(at=> #runtime::rules::#key(#value)),
        RuleKind::Text(text) => quote_spanned!(at=> #runtime::rules::#key(#value, #text)),
        RuleKind::Pattern(pattern) => quote_spanned! {at=> {
            static __PATTERN: #runtime::rules::Pattern = #runtime::rules::Pattern::new(#pattern);
            #runtime::rules::pattern(#value, &__PATTERN)
        }},
        RuleKind::Custom(path) => {
            let result = UserSpans::of(path).call(path, quote!(#value));
            quote_spanned!(at=> #runtime::rules::custom(#result))
        }
        RuleKind::Inner(rules) => {
            let element = Ident::new("__element", at);
            let calls = rules.iter().map(|rule| call(cx, rule, quote!(#element)));
            quote_spanned! {at=>
                #runtime::rules::inner(#value, |#element| {
                    #(#calls?;)*
                    ::core::result::Result::Ok(())
                })
            }
        }
    };
    quote_spanned!(at=> { let #value = #given; #call })
}
