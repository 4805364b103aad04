use proc_macro2::{Delimiter, Group, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::{ExprPath, GenericParam, Generics, Type, parse_quote};

use crate::attr::{Runtime, ends};
use crate::generics::{self, free_name};

use super::model::{Destination, Exit, Route};

/// ```text
/// impl Route for Verdict {
///     const TARGETS: Option<Targets> = Some(Targets { nodes: &["draft", "search"], names: &[] });
///
///     fn exits() -> Vec<Exit> {
///         From::from([
///             Exit::__new("Rework", [Unsent.to(draft).unsent()]),
///             Exit::__with_packet::<Query, _>("Search", [Sent::<Query>::new().to(search).sent::<Query>()], Sent::<Query>::new().reader()),
///         ])
///     }
///
///     fn into_choice(self) -> Choice {
///         match self {
///             Self::Rework => Choice::__new(0),
///             Self::Search(payload) => Choice::sends::<Query>(1, payload),
///         }
///     }
/// }
///
/// impl IntoLeave for Verdict { .. }
/// impl<S: GraphState> IntoStep<S> for Verdict { .. }
/// impl KnownWays for Verdict { .. }
/// ```
pub(crate) fn expand(route: &Route) -> TokenStream {
    let g = &route.runtime;
    let exits = route.exits.iter().map(|exit| expand_exit(exit, g));
    let choices = route.exits.iter().enumerate().map(|(index, exit)| expand_choice(index, exit, g));
    let (_, arguments, _) = route.generics.split_for_impl();
    let exits = quote!(::core::convert::From::from([#(#exits),*]));
    impls(route, &route.generics, &arguments.to_token_stream(), &exits, &quote!(match self { #(#choices),* }))
}

/// Returns the same impls without behaviour, so that no second error says that `Verdict` is not a route.
///
/// A lifetime is one of the mistakes. It is replaced by `'static`, because a route must be `'static`.
pub(crate) fn fallback(route: &Route) -> TokenStream {
    let static_ = quote!('static);
    let params = generics::params(&route.generics, &static_);
    let predicates = generics::predicates(&route.generics, &static_);
    let arguments = generics::arguments(&route.generics, &static_);
    let mut generics: Generics = parse_quote!(<#params>);
    generics.where_clause = parse_quote!(where #predicates);
    let unreachable = quote!(::core::unreachable!());
    impls(route, &generics, &quote!(<#arguments>), &quote!(::std::vec::Vec::new()), &unreachable)
}

/// `Exit::__new("Rework", [Unsent.to(draft).unsent()])`
///
/// The paths occur only here, so rustc reports an error in one of them once.
fn expand_exit(exit: &Exit, g: &Runtime) -> TokenStream {
    let label = exit.label();
    let destinations = exit.to.iter().flatten().map(|destination| match destination {
        Destination::Name(name) => quote!(#g::ExitTarget::named(#name)),
        Destination::Path(path) => expand_value(path, exit.payload.as_ref(), g),
    });
    let destinations = quote!([#(#destinations),*]);
    match &exit.payload {
        None => quote!(#g::Exit::__new(#label, #destinations)),
        Some(payload) => {
            let reader = quote!(#g::Sent::<#payload>::new().reader());
            quote!(#g::Exit::__with_packet::<#payload, _>(#label, #destinations, #reader))
        }
    }
}

/// `Unsent.to(draft).unsent()`, or `Sent::<Query>::new().to(search).sent::<Query>()`
///
/// Tokens before the path have the span of its first token, tokens after it that of its last token. So rustc underlines
/// the path in every error about the call.
fn expand_value(path: &ExprPath, payload: Option<&Type>, g: &Runtime) -> TokenStream {
    let (first, last) = ends(path);
    let g = g.at(first);
    let mut argument = Group::new(Delimiter::Parenthesis, path.to_token_stream());
    argument.set_span(last);
    match payload {
        None => {
            let to = quote_spanned!(first=> #g::Unsent.to);
            let end = quote_spanned!(last=> .unsent());
            quote!(#to #argument #end)
        }
        Some(payload) => {
            let to = quote_spanned!(first=> #g::Sent::<#payload>::new().to);
            let end = quote_spanned!(last=> .sent::<#payload>());
            quote!(#to #argument #end)
        }
    }
}

/// `Self::Search(payload) => Choice::sends::<Query>(1, payload)`
///
/// The payload's type is explicit: there rustc reports that it cannot be stored.
fn expand_choice(index: usize, exit: &Exit, g: &Runtime) -> TokenStream {
    let variant = &exit.variant;
    match &exit.payload {
        None => quote!(Self::#variant => #g::Choice::__new(#index)),
        Some(payload) => quote! {
            Self::#variant(__payload) => #g::Choice::sends::<#payload>(#index, __payload)
        },
    }
}

/// `Targets { nodes: &["draft", "END"], names: &["human"] }`
fn expand_targets(route: &Route) -> TokenStream {
    let g = &route.runtime;
    let (mut nodes, mut names): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    for destination in route.exits.iter().flat_map(|exit| exit.to.iter().flatten()) {
        let (list, name) = match destination {
            Destination::Name(name) => (&mut names, name.value()),
            Destination::Path(path) => match path.path.segments.last() {
                Some(last) => (&mut nodes, last.ident.unraw().to_string()),
                None => continue,
            },
        };
        if !list.contains(&name) {
            list.push(name);
        }
    }
    quote!(#g::Targets { nodes: &[#(#nodes),*], names: &[#(#names),*] })
}

fn impls(
    route: &Route,
    generics: &Generics,
    arguments: &TokenStream,
    exits: &TokenStream,
    choice: &TokenStream,
) -> TokenStream {
    let (g, name) = (&route.runtime, &route.name);
    let (krate, targets) = (g.krate(), expand_targets(route));
    let mut with_state = generics.clone();
    let where_clause = &generics.where_clause;
    let state_name = free_name("S", quote!(#name #generics #where_clause #g));
    let state: GenericParam = parse_quote!(#state_name: #g::GraphState);
    with_state.params.push(state);
    let (generics, _, bounds) = generics.split_for_impl();
    let (generics_with_state, _, _) = with_state.split_for_impl();
    quote! {
        const _: () = {
            #[automatically_derived]
            impl #generics #g::Route for #name #arguments #bounds {
                const TARGETS: ::core::option::Option<#g::Targets> = ::core::option::Option::Some(#targets);

                fn exits() -> ::std::vec::Vec<#g::Exit> {
                    #exits
                }

                fn into_choice(self) -> #g::Choice {
                    #choice
                }
            }

            #[automatically_derived]
            impl #generics #g::IntoLeave for #name #arguments #bounds {
                type Route = Self;

                const TARGETS: ::core::option::Option<#g::Targets> = <Self as #g::Route>::TARGETS;

                fn exits() -> ::std::vec::Vec<#g::Exit> {
                    <Self as #g::Route>::exits()
                }

                fn into_leave(self) -> ::core::result::Result<#g::Leave, #g::NodeError> {
                    ::core::result::Result::Ok(#g::Leave::By(#g::Route::into_choice(self)))
                }
            }

            #[automatically_derived]
            impl #generics #krate::graph::text::KnownWays for #name #arguments #bounds {
                const WAYS: #krate::graph::text::WaysOut = #krate::graph::text::WaysOut::ByRoute(<Self as #g::Route>::TARGETS);
                const WRITES: #g::WrittenFields = #g::WrittenFields::NONE;
            }

            #[automatically_derived]
            impl #generics_with_state #g::IntoStep<#state_name> for #name #arguments #bounds {
                const WRITES: #g::WrittenFields = #g::WrittenFields::NONE;

                fn exits() -> ::core::option::Option<::std::vec::Vec<#g::Exit>> {
                    ::core::option::Option::Some(<Self as #g::Route>::exits())
                }

                fn into_step(self) -> ::core::result::Result<#g::Step<#state_name>, #g::NodeError> {
                    ::core::result::Result::Ok(#g::Step::__leave(#g::Leave::By(#g::Route::into_choice(self))))
                }
            }
        };
    }
}
