use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

use super::context::Context;
use super::span::UserSpans;

// fn __versions(into: &mut Vec<(&'static str, u32)>) { into.push(("Ticket", 2)); }
// fn __migrate(from: &[(String, u32)], stored: &mut Stored) -> Result<(), MigrationError> {
//     migrate(&["Ticket"], 2, from, stored, |from, stored| MigrationOutcome::into_migrated(path(from, stored)))
// }
pub(super) fn methods(cx: &Context<'_>) -> TokenStream {
    let (runtime, name, aliases) = (cx.runtime, cx.state.name(), &cx.state.aliases);
    let version = cx.state.version.unwrap_or(0);
    let own = (version > 0).then(|| quote!(__into.push((#name, #version));));
    let (flats, parts): (Vec<_>, Vec<_>) = cx
        .state
        .flats()
        .map(|flat| {
            let state = cx.flat(flat);
            (quote!(#state::__versions(__into);), quote!(#state::__migrate(__from, __stored)?;))
        })
        .unzip();
    let run = match &cx.state.migrate {
        None => quote!(|_, _| ::core::result::Result::Ok(())),
        Some(path) => {
            // These tokens have the span of the function's path: there rustc underlines types that do not fit.
            let at = path.segments.last().map_or_else(|| path.span(), |last| last.ident.span());
            let (version, stored) = (Ident::new("__version", at), Ident::new("__stored", at));
            let (outcome, arguments) =
                (UserSpans::of(path).runtime(runtime), quote_spanned!(at=> (#version, #stored)));
            quote! {
                |#version: ::core::primitive::u32, #stored: &mut #runtime::Stored| {
                    #outcome::MigrationOutcome::into_migrated(#path #arguments)
                }
            }
        }
    };
    quote! {
        fn __versions(__into: &mut #runtime::Vec<(&'static ::core::primitive::str, ::core::primitive::u32)>) {
            #own
            #(#flats)*
        }
        fn __migrate(
            __from: &[(#runtime::String, ::core::primitive::u32)],
            __stored: &mut #runtime::Stored,
        ) -> ::core::result::Result<(), #runtime::MigrationError> {
            #(#parts)*
            #runtime::migrate(&[#name #(, #aliases)*], #version, __from, __stored, #run)
        }
    }
}
