use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::Type;

use crate::attr::{ends, local, reader, tuple_field};
use crate::generics;

use super::model::{Field, Ownership, View};

/// ```text
/// impl<'a> Question<'a> {
///     pub fn of(state: &'a Ticket) -> Self {
///         let question = (&state.question,);
///         let confidence = (Clone::clone(&state.confidence),);
///         Self { question: question.0, confidence: confidence.0 }
///     }
/// }
/// impl<'a> Param for Question<'a> { type Fixed = Viewed<Question<'static>>; }
/// impl StateOrPacket for Question<'static> { type Role = IsView; }
/// impl View for Question<'static> {
///     type Of = Ticket;
///     type At<'a> = Question<'a>;
///     fn view<'a>(state: &'a Ticket) -> Question<'a> { Question::of(state) }
/// }
/// ```
pub(crate) fn expand(view: &View) -> TokenStream {
    let (g, name) = (&view.runtime, &view.name);
    let of = view.of.as_ref().into_token_stream();
    let fields = || view.fields.iter().enumerate();
    let reads = fields().map(|(index, field)| expand_read(field, &local(index, &field.ty)));
    let values = fields().map(|(index, field)| expand_value(field, &local(index, &field.ty)));
    let constructor = quote! {
        #(#reads)*
        Self { #(#values),* }
    };
    let Forms { params, bounds, fixed, at } = forms(view);
    let view_impl = quote! {
        #[automatically_derived]
        impl<#params> #g::View for #name<#fixed> where #bounds {
            type Of = #of;
            type At<'__a> = #name<#at>;

            fn view<'__a>(__state: &'__a #of) -> #name<#at> {
                #name::of(__state)
            }
        }
    };
    impls(view, &of, &constructor, &quote!(#g::Viewed<#name<#fixed>>), &view_impl)
}

/// Returns the same impls without behaviour, so that no second error says that a node cannot read the view.
pub(crate) fn fallback(view: &View) -> TokenStream {
    let (g, name) = (&view.runtime, &view.name);
    let unreachable = quote!(::core::unreachable!());
    let of = view.of.as_ref().map_or_else(|| quote!(impl ::core::marker::Sized), Type::to_token_stream);
    let Forms { params, bounds, fixed, at } = forms(view);
    let view_impl = quote! {
        #[automatically_derived]
        impl<#params> #g::FixedParam for #name<#fixed> where #bounds {
            type Role = #g::IsView;
            type Packet = #g::NoPacket;
            type At<'__a> = #name<#at>;
        }

        #[automatically_derived]
        impl<#params __S, __D> #g::Extract<__S, __D> for #name<#fixed> where #bounds {
            fn extract<'__a>(_: #g::Source<'__a, __S, __D>) -> ::core::option::Option<#name<#at>> {
                #unreachable
            }
        }
    };
    impls(view, &of, &unreachable, &quote!(#name<#fixed>), &view_impl)
}

/// `let question = (&state.question,);`
///
/// The span is the field's name: there rustc reports that the state has no such field.
fn expand_read(field: &Field, local: &Ident) -> TokenStream {
    let (name, from) = (&field.name, &field.from);
    // `__state` has the derive's own span: a name from a `macro_rules!` argument would not resolve to it.
    let state = Ident::new("__state", Span::call_site());
    match field.ownership {
        Ownership::Cloned => {
            quote_spanned!(name.span()=> let #local = (::core::clone::Clone::clone(&(*#state).#from),);)
        }
        _ => quote_spanned!(name.span()=> let #local = (&(*#state).#from,);),
    }
}

/// `question: question.0`
///
/// The spans run over the field's type: there rustc reports that the state's field has another type. The tuple makes
/// this possible.
fn expand_value(field: &Field, local: &Ident) -> TokenStream {
    let (name, value) = (&field.name, tuple_field(local, &field.ty));
    let Ownership::BorrowedInOption(inner) = &field.ownership else { return quote!(#name: #value) };
    let (first, last) = ends(&field.ty);
    let mut inside = Group::new(Delimiter::Parenthesis, quote!(__inside));
    inside.set_span(last);
    let some = quote_spanned!(first=> ::core::option::Option::Some #inside);
    let local = crate::attr::local(0, inner);
    let shown = tuple_field(&local, inner);
    quote! {
        #name: if let #some = #value {
            let #local = (__inside,);
            let __inside: #inner = #shown;
            ::core::option::Option::Some(__inside)
        } else {
            ::core::option::Option::None
        }
    }
}

fn impls(
    view: &View,
    of: &TokenStream,
    constructor: &TokenStream,
    param: &TokenStream,
    view_impl: &TokenStream,
) -> TokenStream {
    let (g, name, visibility, reader) = (&view.runtime, &view.name, &view.visibility, reader());
    let lifetime = view.lifetime();
    let (own, arguments, _) = view.generics.split_for_impl();
    let written = view.generics.where_clause.iter().flat_map(|clause| &clause.predicates);
    let own_bounds = with_state(view, &quote!(#(#written,)*));
    let Forms { params, bounds, fixed, .. } = forms(view);
    let doc = format!("The `{name}` of a state, as nodes read it.");
    quote! {
        #[allow(unexpected_cfgs)]
        const _: () = {
            #[automatically_derived]
            impl #own #name #arguments where #own_bounds {
                #[doc = #doc]
                // The name `state` could be that of a constant of the user.
                #visibility fn of(
                    #[cfg(not(#reader))] __state: &#lifetime #of,
                    #[cfg(#reader)] state: &#lifetime #of,
                ) -> Self {
                    #[cfg(#reader)]
                    let __state = state;
                    #constructor
                }
            }

            #[automatically_derived]
            impl #own #g::Param for #name #arguments where #own_bounds {
                type Fixed = #param;
            }

            #[automatically_derived]
            impl<#params> #g::StateOrPacket for #name<#fixed> where #bounds {
                type Role = #g::IsView;
            }

            #view_impl
        };
    }
}

/// The generics of the view with `'static` and with a short lifetime.
struct Forms {
    params: TokenStream,
    bounds: TokenStream,
    fixed: TokenStream,
    at: TokenStream,
}

fn forms(view: &View) -> Forms {
    let (static_, short) = (quote!('static), quote!('__a));
    Forms {
        params: generics::params(&view.generics, &static_),
        bounds: with_state(view, &generics::predicates(&view.generics, &static_)),
        fixed: generics::arguments(&view.generics, &static_),
        at: generics::arguments(&view.generics, &short),
    }
}

/// Returns the user's where-clause plus `State: GraphState`, so that users need not repeat the bounds of a generic
/// state.
fn with_state(view: &View, written: &TokenStream) -> TokenStream {
    let g = &view.runtime;
    let generic = view.generics.type_params().next().is_some();
    let state = view.of.iter().filter(|_| generic).map(|of| quote!(#of: #g::GraphState,));
    quote!(#written #(#state)*)
}
