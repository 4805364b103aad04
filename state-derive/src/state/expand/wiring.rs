use proc_macro2::TokenStream;
use quote::quote;

use crate::state::map_key::map_key;
use crate::state::model::{Field, Start};

use super::context::Context;
use super::field_types::{is_checked, mentions_params};
use super::fields::start_value;
use super::validate;

// fn __check(into: &mut StateCheck) {
//     into.start(|report| { let value = &{ 0.5 }; check_rule(report, ..); });
//     into.key::<<Id as Checked<__CHECK_scores>>::Same>("scores");
//     into.part::<Chat>();
//     <Chat as GraphState>::__check(into);
// }
pub(super) fn check(cx: &Context<'_>) -> TokenStream {
    let runtime = cx.runtime;
    let starts = cx.state.fields().filter(|field| has_own_start(field)).map(|field| {
        let (value, ty, rules) = (start_value(cx, field), cx.ty(field), validate::rules(cx, field));
        quote! {
            __into.start(|__report| {
                let __start: #ty = #value;
                let __value = &__start;
                #rules
            });
        }
    });
    let keys = cx.state.fields().filter_map(|field| {
        let stored = field.tracked && field.codec.is_derived() && is_checked(cx.state, field);
        let key = map_key(&field.ty).filter(|key| stored && !mentions_params(cx.state, quote!(#key)))?;
        let (name, constant) = (field.name(), super::assert::constant(field));
        Some(quote!(__into.key::<<#key as #runtime::Checked<#constant>>::Same>(#name);))
    });
    let flats = cx.state.flats().map(|flat| {
        let (ty, state) = (cx.flat_ty(flat), cx.flat(flat));
        quote!(__into.part::<#ty>(); #state::__check(__into);)
    });
    let checks: TokenStream = starts.chain(keys).chain(flats).collect();
    if checks.is_empty() {
        return checks;
    }
    quote! {
        fn __check(__into: &mut #runtime::StateCheck) {
            #checks
        }
    }
}

fn has_own_start(field: &Field) -> bool {
    matches!(field.start, Start::Expr(_)) && !field.rules.is_empty()
}
