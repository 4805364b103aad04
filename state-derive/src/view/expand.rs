use proc_macro2::{Delimiter, Group, Literal, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::Type;

use crate::attr::ends;
use crate::generics;

use super::model::{Field, Held, View};

/// ```text
/// impl<'a> Question<'a> {
///     pub fn of(state: &'a Ticket) -> Self {
///         let state = viewed::<Ticket>(state);
///         let question = (&state.question,);
///         let confidence = (Clone::clone(&state.confidence),);
///         Self { question: question.0, confidence: confidence.0 }
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

/// `let question = (&state.question,);`
///
/// Spanned at the field's name: that is where rustc says that the state has no such field.
fn expand_read(field: &Field, place: &syn::Ident) -> TokenStream {
    let (name, from) = (&field.name, &field.from);
    match field.held {
        Held::Cloned => {
            quote_spanned!(name.span()=> let #place = (::core::clone::Clone::clone(&(*__state).#from),);)
        }
        _ => quote_spanned!(name.span()=> let #place = (&(*__state).#from,);),
    }
}

/// `question: question.0`
///
/// From the first token of the field's type to the last: that is where rustc says that the state's field has another
/// one. It is why there is a tuple.
fn expand_value(field: &Field, place: &syn::Ident) -> TokenStream {
    let (name, value) = (&field.name, spread(place, &field.ty));
    let Held::BorrowedInside(inner) = &field.held else { return quote!(#name: #value) };
    let (first, last) = ends(&field.ty);
    let mut inside = Group::new(Delimiter::Parenthesis, quote!(__inside));
    inside.set_span(last);
    let some = quote_spanned!(first=> ::core::option::Option::Some #inside);
    let shown = spread(&format_ident!("__inside"), inner);
    quote! {
        #name: if let #some = #value {
            let __inside = (__inside,);
            let __inside: #inner = #shown;
            ::core::option::Option::Some(__inside)
        } else {
            ::core::option::Option::None
        }
    }
}

/// `place.0`, all along `ty`.
fn spread(place: &syn::Ident, ty: &Type) -> TokenStream {
    let (first, last) = ends(ty);
    let mut place = place.clone();
    place.set_span(first);
    let mut index = Literal::usize_unsuffixed(0);
    index.set_span(last);
    quote_spanned!(first=> #place.#index)
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
    let (own, arguments, _) = view.generics.split_for_impl();
    let written = view.generics.where_clause.iter().flat_map(|clause| &clause.predicates);
    let bounds = bounds(view, &quote!(#(#written,)*));
    let params = generics::params(&view.generics, &static_);
    let fixed_bounds = self::bounds(view, &generics::predicates(&view.generics, &static_));
    let fixed = generics::arguments(&view.generics, &static_);
    let at = generics::arguments(&view.generics, &short);
    let doc = format!("The `{name}` of a state: what a node is given that takes one.");
    quote! {
        const _: () = {
            #[automatically_derived]
            impl #own #name #arguments where #bounds {
                #[doc = #doc]
                #visibility fn of(__state: &#lifetime #of) -> Self {
                    #constructor
                }
            }

            #[automatically_derived]
            impl #own #g::Param for #name #arguments where #bounds {
                type Fixed = #name<#fixed>;
            }

            #[automatically_derived]
            impl<#params> #g::FixedParam for #name<#fixed> where #fixed_bounds {
                type Role = #g::IsView;
                type Packet = #g::NoPacket;
                type At<'__a> = #name<#at>;
            }

            #[automatically_derived]
            #[diagnostic::do_not_recommend]
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

/// The user's where-clause, and that the state is one: what a generic state asks need not be said again.
fn bounds(view: &View, written: &TokenStream) -> TokenStream {
    let g = &view.runtime;
    let generic = view.generics.type_params().next().is_some();
    let state = view.of.iter().filter(|_| generic).map(|of| quote!(#of: #g::GraphState,));
    quote!(#written #(#state)*)
}
