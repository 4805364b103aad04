use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{GenericParam, Type};

use super::lifetime::replace;
use super::model::{Field, Held, View};

/// ```text
/// impl<'a> Question<'a> {
///     pub fn of(state: &'a Ticket) -> Self {
///         let state = viewed::<Ticket>(state);
///         let question = &state.question;
///         let confidence = Clone::clone(&state.confidence);
///         Self { question, confidence }
///     }
/// }
/// impl<'a> Param for Question<'a> { type Fixed = Question<'static>; }
/// impl FixedParam for Question<'static> { type At<'a> = Question<'a>; .. }
/// impl<S, D> Extract<S, D> for Question<'static> where Ticket: PartOf<S> {
///     fn extract<'a>(from: Source<'a, S, D>) -> Option<Question<'a>> {
///         Some(Question::of(PartOf::part(from.state)))
///     }
/// }
/// impl StateOrPacket for Question<'static> { type Role = IsView; }
/// ```
pub(crate) fn expand(view: &View) -> TokenStream {
    let (g, name) = (&view.runtime, &view.name);
    let of = view.of.as_ref().into_token_stream();
    let places = (0..view.fields.len()).map(|place| format_ident!("__field_{place}"));
    let shown: Vec<_> = view.fields.iter().zip(places).collect();
    let reads = shown.iter().map(|(field, place)| expand_read(field, place));
    let values = shown.iter().map(|(field, place)| expand_value(field, place));
    let constructor = quote! {
        let __state = #g::viewed::<#of>(__state);
        #(#reads)*
        Self { #(#values),* }
    };
    let extract = quote! {
        ::core::option::Option::Some(#name::of(<#of as #g::PartOf<__S>>::part(__from.state)))
    };
    impls(view, &of, &constructor, &quote!(#of: #g::PartOf<__S>), &extract)
}

/// The same impls without behaviour: what is wrong has been said, "cannot read `Question`" need not follow.
pub(crate) fn fallback(view: &View) -> TokenStream {
    let unreachable = quote!(::core::unreachable!());
    let of = view.of.as_ref().map_or_else(|| quote!(impl ::core::marker::Sized), Type::to_token_stream);
    impls(view, &of, &unreachable, &TokenStream::new(), &unreachable)
}

/// `let question = &state.question;`
///
/// Spanned at the field's name: that is where rustc says that the state has no such field.
fn expand_read(field: &Field, place: &syn::Ident) -> TokenStream {
    let (name, from) = (&field.name, &field.from);
    match field.held {
        Held::Cloned => {
            quote_spanned!(name.span()=> let #place = ::core::clone::Clone::clone(&(*__state).#from);)
        }
        _ => quote_spanned!(name.span()=> let #place = &(*__state).#from;),
    }
}

/// `question: question`
///
/// Spanned at the field's type: that is where rustc says that the state's field has another one.
fn expand_value(field: &Field, place: &syn::Ident) -> TokenStream {
    let (name, ty) = (&field.name, &field.ty);
    let mut place = place.clone();
    place.set_span(ty.span());
    match field.held {
        // A `match` instead of `map`: its arms coerce, `&String` to `&str`.
        Held::BorrowedInside => quote_spanned! {ty.span()=>
            #name: match ::core::option::Option::as_ref(#place) {
                ::core::option::Option::Some(__inside) => ::core::option::Option::Some(__inside),
                ::core::option::Option::None => ::core::option::Option::None,
            }
        },
        _ => quote!(#name: #place),
    }
}

fn impls(
    view: &View,
    of: &TokenStream,
    constructor: &TokenStream,
    part_of: &TokenStream,
    extract: &TokenStream,
) -> TokenStream {
    let (g, name, visibility) = (&view.runtime, &view.name, &view.visibility);
    let lifetime = view.lifetime();
    let (static_, short) = (quote!('static), quote!('__a));
    let (generics, arguments, _) = view.generics.split_for_impl();
    let bounds = bounds(view, None);
    let (params, fixed_bounds) = (params(view, &static_), self::bounds(view, Some(&static_)));
    let (fixed, at) = (self::arguments(view, &static_), self::arguments(view, &short));
    let doc = format!("The `{name}` of a state: what a node is given that takes one.");
    quote! {
        const _: () = {
            #[automatically_derived]
            impl #generics #name #arguments where #bounds {
                #[doc = #doc]
                #visibility fn of(__state: &#lifetime #of) -> Self {
                    #constructor
                }
            }

            #[automatically_derived]
            impl #generics #g::Param for #name #arguments where #bounds {
                type Fixed = #name<#fixed>;
            }

            #[automatically_derived]
            impl<#params> #g::FixedParam for #name<#fixed> where #fixed_bounds {
                type Role = #g::IsView;
                type Packet = #g::NoPacket;
                type At<'__a> = #name<#at>;
            }

            #[automatically_derived]
            impl<#params __S, __D> #g::Extract<__S, __D> for #name<#fixed> where #fixed_bounds #part_of {
                fn extract<'__a>(__from: #g::Source<'__a, __S, __D>) -> ::core::option::Option<#name<#at>> {
                    #extract
                }
            }

            #[automatically_derived]
            impl<#params> #g::StateOrPacket for #name<#fixed> where #fixed_bounds {
                type Role = #g::IsView;
            }
        };
    }
}

/// `T: Clone, const N: usize,` without lifetimes: those are `by`.
fn params(view: &View, by: &TokenStream) -> TokenStream {
    let params = view.generics.params.iter().filter_map(|param| match param {
        GenericParam::Lifetime(_) => None,
        GenericParam::Type(param) => {
            let (name, bounds) = (&param.ident, &param.bounds);
            Some(quote!(#name: #bounds,))
        }
        GenericParam::Const(param) => {
            let (name, ty) = (&param.ident, &param.ty);
            Some(quote!(const #name: #ty,))
        }
    });
    with_lifetime(view, quote!(#(#params)*), by)
}

/// `'static, T, N` with every lifetime `by`.
fn arguments(view: &View, by: &TokenStream) -> TokenStream {
    let arguments = view.generics.params.iter().map(|param| match param {
        GenericParam::Lifetime(_) => by.clone(),
        GenericParam::Type(param) => param.ident.to_token_stream(),
        GenericParam::Const(param) => param.ident.to_token_stream(),
    });
    quote!(#(#arguments,)*)
}

/// The user's where-clause, and that the state is one: what a generic state asks need not be said again.
fn bounds(view: &View, by: Option<&TokenStream>) -> TokenStream {
    let g = &view.runtime;
    let written = view.generics.where_clause.iter().flat_map(|clause| &clause.predicates);
    let written = quote!(#(#written,)*);
    let written = by.map_or(written.clone(), |by| with_lifetime(view, written, by));
    let generic = view.generics.type_params().next().is_some();
    let state = view.of.iter().filter(|_| generic).map(|of| quote!(#of: #g::GraphState,));
    quote!(#written #(#state)*)
}

fn with_lifetime(view: &View, tokens: TokenStream, by: &TokenStream) -> TokenStream {
    view.generics.lifetimes().fold(tokens, |tokens, param| replace(tokens, &param.lifetime, by))
}
