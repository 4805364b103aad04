use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::{ImplGenerics, WhereClause};

use crate::attr::Runtime;
use crate::generics::{arguments, params};
use crate::state::model::{Field, Flat, Reducer, State};

use super::field_types::{field_type, flat_type, reducer_type};
use super::span::UserSpans;

/// The paths, types and generics that all parts of the expansion use.
pub(super) struct Context<'a> {
    pub(super) state: &'a State,
    pub(super) runtime: &'a Runtime,
    /// `Ticket<T>`
    pub(super) this: TokenStream,
    /// `__Fits<T>`: an error type if a field does not fit.
    pub(super) fits: TokenStream,
    /// `TicketUpdate<T>`
    pub(super) update: TokenStream,
    /// `TicketInput<T>`
    pub(super) input: TokenStream,
    /// `TicketOutput<T>`
    pub(super) output: TokenStream,
    /// `__Write<T>`
    pub(super) write: TokenStream,
    /// `__Undo<T>`
    pub(super) undo: TokenStream,
    /// `__Given<T>`
    pub(super) given: TokenStream,
    /// `<T: Clone>`
    pub(super) impl_generics: ImplGenerics<'a>,
    pub(super) where_clause: Option<&'a WhereClause>,
}

impl<'a> Context<'a> {
    pub(super) fn new(state: &'a State) -> Self {
        let (impl_generics, generics, where_clause) = state.generics.split_for_impl();
        let with = |ident: Ident| quote!(#ident #generics);
        let statics = state.lifetimes.iter().map(|_| quote!('static,));
        let params = arguments(&state.generics, &quote!('static));
        let public = quote!(<#(#statics)* #params>);
        let public =
            |ident: Ident| if state.lifetimes.is_empty() { with(ident) } else { quote!(#ident #public) };
        Self {
            state,
            runtime: &state.runtime,
            this: public(state.ident.clone()),
            fits: with(format_ident!("__Fits")),
            update: public(state.update()),
            input: public(state.input()),
            output: public(state.output()),
            write: with(format_ident!("__Write")),
            undo: with(format_ident!("__Undo")),
            given: with(format_ident!("__Given")),
            impl_generics,
            where_clause,
        }
    }

    /// `#[automatically_derived] impl<T> path for Type<T> where .. { body }`
    pub(super) fn impl_for(&self, path: TokenStream, ty: impl ToTokens, body: TokenStream) -> TokenStream {
        let (generics, where_clause, listed) = (&self.impl_generics, self.where_clause, self.listed());
        quote! {
            #[automatically_derived]
            #listed
            impl #generics #path for #ty #where_clause { #body }
        }
    }

    /// `impl<T> path for Ticket<T> where __Fits<T>: Send + Sync { body }`, for a trait that only a type that is `Send + Sync`
    /// may implement. If a field does not fit, its error is the only one: the bound is on an error type, which stands for
    /// every type, also for the state.
    pub(super) fn impl_shared(&self, path: TokenStream, ty: impl ToTokens, body: TokenStream) -> TokenStream {
        let (generics, fits) = (&self.impl_generics, &self.fits);
        let predicates = self.where_clause.map(|clause| &clause.predicates).into_iter().flatten();
        let listed = self.listed();
        quote! {
            #[automatically_derived]
            #listed
            impl #generics #path for #ty
            where
                #(#predicates,)*
                #fits: ::core::marker::Send + ::core::marker::Sync,
            { #body }
        }
    }

    /// With an additional parameter: `impl<T, S: Bound> path for Type<T> where .. { body }`
    pub(super) fn impl_with(
        &self,
        param: TokenStream,
        path: TokenStream,
        ty: impl ToTokens,
        body: TokenStream,
    ) -> TokenStream {
        let (params, where_clause) = (params(&self.state.generics, &quote!('static)), self.where_clause);
        let listed = self.listed();
        quote! {
            #[automatically_derived]
            #listed
            impl<#params #param> #path for #ty #where_clause { #body }
        }
    }

    /// Leaves the impls of the library's own states out of rustc's lists. A user's crate may be without the prelude, which
    /// has the tool `diagnostic`.
    fn listed(&self) -> Option<TokenStream> {
        self.runtime.is_own().then(|| quote!(#[diagnostic::do_not_recommend]))
    }

    /// `impl<T> Type<T> where .. { body }`
    pub(super) fn inherent(&self, ty: impl ToTokens, body: TokenStream) -> TokenStream {
        let (generics, where_clause) = (&self.impl_generics, self.where_clause);
        quote! {
            #[automatically_derived]
            impl #generics #ty #where_clause { #body }
        }
    }

    /// Returns the names of the type parameters.
    pub(super) fn type_params(&self) -> impl Iterator<Item = &'a Ident> {
        self.state.generics.type_params().map(|param| &param.ident)
    }

    /// Returns the number of the state's own fields.
    pub(super) fn own_fields(&self) -> usize {
        self.state.fields().count()
    }

    /// Returns the reducer's type.
    pub(super) fn reducer(&self, field: &Field) -> TokenStream {
        let spans = UserSpans::of(&field.ty);
        let runtime = spans.runtime(self.runtime);
        match &field.reducer {
            Reducer::Replace => spans.all(quote!(#runtime::Replace)),
            Reducer::BuiltIn { name, optional, .. } => {
                let name = format_ident!("{name}");
                let reducer = spans.all(quote!(#runtime::reducers::#name));
                match optional {
                    Some(_) => spans.around(quote!(#runtime::reducers::Optional<), reducer, quote!(>)),
                    None => reducer,
                }
            }
            Reducer::Type(path) => reducer_type(self.state, field, path),
            Reducer::Function { .. } => {
                let name = format_ident!("__Reducer_{}", field.ident);
                let (_, generics, _) = self.state.generics.split_for_impl();
                quote!(#name #generics)
            }
        }
    }

    /// Returns the reducer as rustdoc and rust-analyzer show it, without aliases and private paths.
    pub(super) fn shown_reducer(&self, field: &Field) -> TokenStream {
        let krate = self.runtime.krate();
        match &field.reducer {
            Reducer::Type(path) => path.to_token_stream(),
            Reducer::Replace => quote!(#krate::reducers::Replace),
            Reducer::BuiltIn { name, optional, .. } => {
                let module =
                    format_ident!("{}", if *name == "AddMessages" { "messages" } else { "reducers" });
                let name = format_ident!("{name}");
                match optional {
                    Some(_) => quote!(#krate::reducers::Optional<#krate::#module::#name>),
                    None => quote!(#krate::#module::#name),
                }
            }
            Reducer::Function { .. } => self.reducer(field),
        }
    }

    /// Returns the alias of the field's type.
    pub(super) fn ty(&self, field: &Field) -> TokenStream {
        field_type(self.state, field)
    }

    /// Returns the alias of the flattened state's type.
    pub(super) fn flat_ty(&self, flat: &Flat) -> TokenStream {
        flat_type(self.state, flat)
    }

    /// `Change<Reducer, Type>`, with the spans of the field's type.
    pub(super) fn change(&self, field: &Field) -> TokenStream {
        let spans = UserSpans::of(&field.ty);
        let (runtime, reducer, ty) = (spans.runtime(self.runtime), self.reducer(field), self.ty(field));
        spans.around(quote!(#runtime::Change<), quote!(#reducer, #ty), quote!(>))
    }

    /// `<Chat as GraphState>`, with the spans of the flattened state's type.
    pub(super) fn flat(&self, flat: &Flat) -> TokenStream {
        let spans = UserSpans::of(&flat.ty);
        let runtime = spans.runtime(self.runtime);
        spans.around(quote!(<), self.flat_ty(flat), quote!(as #runtime::GraphState>))
    }

    /// `<<Chat as GraphState>::Update as Update<Chat>>::Write`
    pub(super) fn flat_write(&self, flat: &Flat) -> TokenStream {
        let (runtime, ty, state) = (self.runtime, self.flat_ty(flat), self.flat(flat));
        quote!(<#state::Update as #runtime::Update<#ty>>::Write)
    }

    /// Returns the index of the flattened state's first field.
    pub(super) fn offset(&self, flat: &Flat) -> TokenStream {
        let own = self.own_fields();
        let before = self.state.flats().take(flat.index).map(|flat| self.flat(flat));
        quote!((#own #(+ #before::FIELD_COUNT)*))
    }

    /// Maps an index after the own fields to the flattened state that it belongs to. `then` reads `__rest`.
    pub(super) fn descend(&self, index: &Ident, then: impl Fn(&Flat) -> TokenStream) -> TokenStream {
        let own = self.own_fields();
        let steps = self.state.flats().map(|flat| {
            let (state, then) = (self.flat(flat), then(flat));
            quote! {
                if __rest < #state::FIELD_COUNT {
                    return #then;
                }
                let __rest = __rest - #state::FIELD_COUNT;
            }
        });
        quote! {
            if let ::core::option::Option::Some(__rest) = #index.checked_sub(#own) {
                #(#steps)*
            }
        }
    }
}
