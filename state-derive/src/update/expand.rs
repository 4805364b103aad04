use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{GenericParam, Type, parse_quote};

use crate::attr::{Runtime, ends, local, tuple_field};
use crate::generics::{free_name, mentions_params};

use super::model::{Field, Update};

/// ```text
/// const __FIELDS: bool = {
///     let _ = <Ticket as GraphState>::FIELD_COUNT;
///     let _ = |state: &Ticket| { let _ = &state.answer; let _ = &state.chat; };
///     true
/// };
/// type __Known = <Ticket as Checked<__FIELDS>>::Same;
/// const __KINDS: bool = { plain_field(&__Known::ANSWER); flattened_field(&__Known::CHAT); true };
/// type __Sorted = <__Known as Checked<__KINDS>>::Same;
/// const __PARTS: bool = {
///     let _ = flattened_writes(&__Sorted::CHAT, &<GivenValue<<Said as Checked<__KINDS>>::Same>>::__new());
///     true
/// };
/// type __State = <__Sorted as Checked<__PARTS>>::Same;
/// type __Part1 = <Said as Checked<__PARTS>>::Same;
///
/// impl Answered {
///     const WRITES: WrittenFields = WrittenFields::__new(
///         &[WrittenField::__new(&__State::ANSWER, <GivenValue<String>>::OVERWRITES, true)],
///         &[(flattened_writes(&__State::CHAT, &<GivenValue<__Part1>>::__new()), true)],
///     );
/// }
/// impl<S: Holds<__State, Part = TicketUpdate>> IntoUpdate<S> for Answered {
///     fn into_update(self) -> S::Update {
///         let mut update = <TicketUpdate as Default>::default();
///         update = update.answer(self.answer);
///         update = update.chat(self.chat);
///         S::lift(update)
///     }
/// }
/// impl<S: Holds<__State, Part = TicketUpdate>> IntoStep<S> for Answered { .. }
/// impl KnownWays for Answered { .. }
/// ```
///
/// A field that the state does not have is an error in the first constant, one of the wrong kind in the second, and an
/// update of another state in the third. Then `__State` is an error type, and rustc reports nothing about the code that
/// names it. Constants cannot be generic, so a generic state is named directly.
pub(crate) fn expand(update: &Update) -> TokenStream {
    let (g, of) = (&update.runtime, update.of.to_token_stream());
    let generic = mentions_params(&update.generics, &of);
    let (checks, state) =
        if generic { (TokenStream::new(), of) } else { (expand_checks(update, &of), quote!(__State)) };
    let writes = expand_writes(update, &state, generic);
    let body = expand_body(update, &state);
    // No bound `Ticket<T>: GraphState`: with it, rustc would not know which type the update is, nor its setters.
    let owner = owner(update);
    let holds: GenericParam =
        parse_quote!(#owner: #g::Holds<#state, Part = <#state as #g::GraphState>::Update>);
    impls(update, &holds, &checks, &writes, &body)
}

/// Returns the same impls without behaviour, so that no second error says that a node cannot return the update.
pub(crate) fn fallback(update: &Update) -> TokenStream {
    let g = &update.runtime;
    let owner = owner(update);
    let state: GenericParam = parse_quote!(#owner: #g::GraphState);
    let none = quote!(#g::WrittenFields::NONE);
    impls(update, &state, &TokenStream::new(), &none, &quote!(::core::unreachable!()))
}

/// The constants that ask whether the state has these fields.
fn expand_checks(update: &Update, of: &TokenStream) -> TokenStream {
    let (g, at_state) = (&update.runtime, at_type(&update.runtime, of));
    let (first, last) = ends(of);
    let begin = quote_spanned!(first=> <);
    let end = quote_spanned!(last=> as #at_state::GraphState>::FIELD_COUNT;);
    // The span is the name: there rustc reports that the state has no such field. `__state` has the derive's own span: a
    // name from a `macro_rules!` argument would not resolve to it.
    let state = Ident::new("__state", Span::call_site());
    let fields = update.fields.iter().map(|field| {
        let to = &field.to;
        quote_spanned!(to.span()=> let _ = &(*#state).#to;)
    });
    let kinds = update.fields.iter().map(|field| {
        let (constant, at_name) = (&field.constant, g.at(field.to.span()));
        let check =
            Ident::new(if field.flatten { "flattened_field" } else { "plain_field" }, field.to.span());
        quote_spanned!(field.to.span()=> #at_name::#check(&__Known::#constant);)
    });
    let parts = update.fields.iter().enumerate().filter(|(_, field)| is_checked_part(update, field));
    let (parts, aliases): (Vec<_>, Vec<_>) = parts
        .map(|(index, field)| {
            let (constant, alias, ty) = (&field.constant, part_alias(index), &field.ty);
            let at_name = g.at(field.to.span());
            let given = given(&quote!(<#ty as #g::Checked<__KINDS>>::Same), ty, g);
            let check =
                quote_spanned!(field.to.span()=> #at_name::flattened_writes(&__Sorted::#constant, #given));
            (quote!(let _ = #check;), quote!(type #alias = <#ty as #g::Checked<__PARTS>>::Same;))
        })
        .unzip();
    quote! {
        const __FIELDS: ::core::primitive::bool = {
            let _ = #begin #of #end
            let _ = |#state: &#of| { #(#fields)* };
            true
        };
        type __Known = <#of as #g::Checked<__FIELDS>>::Same;
        const __KINDS: ::core::primitive::bool = { #(#kinds)* true };
        type __Sorted = <__Known as #g::Checked<__KINDS>>::Same;
        const __PARTS: ::core::primitive::bool = { #(#parts)* true };
        type __State = <__Sorted as #g::Checked<__PARTS>>::Same;
        #(#aliases)*
    }
}

/// A constant cannot name a type that depends on parameters.
fn is_checked_part(update: &Update, field: &Field) -> bool {
    field.flatten && !mentions_params(&update.generics, &field.ty)
}

fn part_alias(index: usize) -> Ident {
    format_ident!("__Part{index}")
}

/// The value of `WRITES`.
fn expand_writes(update: &Update, state: &TokenStream, generic: bool) -> TokenStream {
    let g = &update.runtime;
    let own = update.fields.iter().filter(|field| !field.flatten).map(|field| {
        let (constant, ty) = (&field.constant, &field.ty);
        // A type parameter may stand for an overwrite.
        if mentions_params(&update.generics, ty) {
            return quote!(#g::WrittenField::__new(&<#state>::#constant, true, false));
        }
        let always = !field.skip_none;
        quote!(#g::WrittenField::__new(&<#state>::#constant, <#g::GivenValue<#ty>>::OVERWRITES, #always))
    });
    let parts = update.fields.iter().enumerate().filter(|(_, field)| field.flatten).map(|(index, field)| {
        let (constant, ty, always) = (&field.constant, &field.ty, !field.skip_none);
        let given = if !generic && is_checked_part(update, field) {
            let alias = part_alias(index);
            quote!(&<#g::GivenValue<#alias>>::__new())
        } else {
            given(&quote!(#ty), ty, g)
        };
        quote!((#g::flattened_writes(&<#state>::#constant, #given), #always))
    });
    quote!(#g::WrittenFields::__new(const { &[#(#own),*] }, const { &[#(#parts),*] }))
}

/// The body of `into_update`.
fn expand_body(update: &Update, state: &TokenStream) -> TokenStream {
    let (g, owner) = (&update.runtime, owner(update));
    // With the derive's own span, as `__state` above.
    let result = Ident::new("__update", Span::call_site());
    let writes = update.fields.iter().enumerate().map(|(index, field)| {
        let (name, to) = (&field.name, &field.to);
        let local = local(index, &field.ty);
        let value = tuple_field(&local, &field.ty);
        // rustc underlines the setter's name and its argument.
        let write = quote_spanned!(to.span()=> #result.#to(#value));
        if field.skip_none {
            quote! {
                if let ::core::option::Option::Some(__inside) = self.#name {
                    let #local = (__inside,);
                    #result = #write;
                }
            }
        } else {
            quote! {
                let #local = (self.#name,);
                #result = #write;
            }
        }
    });
    quote! {
        let mut #result = <<#state as #g::GraphState>::Update as ::core::default::Default>::default();
        #(#writes)*
        <#owner as #g::Holds<#state>>::lift(#result)
    }
}

/// The parameter for the states that the impls are for.
fn owner(update: &Update) -> Ident {
    let (name, generics, of) = (&update.name, &update.generics, &update.of);
    let (where_clause, g) = (&generics.where_clause, &update.runtime);
    free_name("S", quote!(#name #generics #where_clause #of #g))
}

/// `&<GivenValue<Said>>::__new()`, underlined like the field's type.
fn given(ty: &TokenStream, written: &Type, g: &Runtime) -> TokenStream {
    let (first, last) = ends(written);
    let g = g.at(first);
    let begin = quote_spanned!(first=> &<#g::GivenValue<#ty>);
    let end = quote_spanned!(last=> >::__new());
    quote!(#begin #end)
}

/// The path of the crate with the span of a type.
fn at_type(g: &Runtime, ty: impl ToTokens) -> Runtime {
    g.at(ends(ty).0)
}

fn impls(
    update: &Update,
    state: &GenericParam,
    checks: &TokenStream,
    writes: &TokenStream,
    body: &TokenStream,
) -> TokenStream {
    let (g, krate, name, visibility) =
        (&update.runtime, update.runtime.krate(), &update.name, &update.visibility);
    let (generics, owner) = (&update.generics, owner(update));
    let mut with_state = generics.clone();
    with_state.params.push(state.clone());
    let (own, arguments, bounds) = generics.split_for_impl();
    let (with_state, _, _) = with_state.split_for_impl();
    let doc = format!("The fields of the state that `{name}` can write.");
    // With the span of the derive, rustc would advise to implement the trait by hand.
    let at_name = g.at(name.span());
    quote! {
        const _: () = {
            use #g::NoOverwrite as _;

            #checks

            #[automatically_derived]
            impl #own #name #arguments #bounds {
                #[doc = #doc]
                #visibility const WRITES: #g::WrittenFields = #writes;
            }

            #[automatically_derived]
            impl #with_state #g::IntoUpdate<#owner> for #name #arguments #bounds {
                const WRITES: #g::WrittenFields = <#name #arguments>::WRITES;

                #[inline]
                fn into_update(self) -> <#owner as #g::GraphState>::Update {
                    #body
                }
            }

            #[automatically_derived]
            impl #with_state #at_name::IntoStep<#owner> for #name #arguments #bounds {
                const WRITES: #g::WrittenFields = <#name #arguments>::WRITES;

                fn exits() -> ::core::option::Option<#g::Vec<#g::Exit>> {
                    ::core::option::Option::None
                }

                #[inline]
                fn into_step(self) -> ::core::result::Result<#g::Step<#owner>, #g::NodeError> {
                    ::core::result::Result::Ok(#g::Step::update(#g::IntoUpdate::<#owner>::into_update(self)))
                }
            }

            #[automatically_derived]
            impl #own #krate::graph::text::KnownWays for #name #arguments #bounds {
                const WAYS: #krate::graph::text::WaysOut = #krate::graph::text::WaysOut::ByEdges;
                const WRITES: #g::WrittenFields = <#name #arguments>::WRITES;
            }
        };
    }
}
