//! Generates the code.

use proc_macro2::{Delimiter, Group, Ident, Punct, Spacing, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt as _;
use syn::spanned::Spanned as _;
use syn::{Lifetime, ReturnType, Type};

use crate::generics::free_name;

use super::model::{Kind, Param, Tool};

// struct add {}
// fn add() -> add { add {} }
// impl add { async fn call(a: f64, b: f64) -> f64 { a + b } }
// const _: () = { struct __Arguments { a: f64, b: f64 } impl<S, D> Tool<S, D> for add { .. } };
pub(super) fn expand(tool: &Tool) -> TokenStream {
    let (runtime, ident) = (&tool.runtime, tool.ident());
    let (s, d) = type_params(tool);
    let (item, arguments) = (item(tool), arguments(tool));
    let (name, description) = (&tool.name, &tool.description);
    let call = call(tool);
    let bounds = bounds(tool);
    let lints = lints();
    quote! {
        #item
        #[doc(hidden)]
        #lints
        const _: () = {
            #arguments
            #[automatically_derived]
            impl<#s: #runtime::GraphState, #d: ::core::marker::Send + ::core::marker::Sync + 'static>
                #runtime::Tool<#s, #d> for #ident
            where
                #(#bounds,)*
            {
                fn spec(&self) -> #runtime::ToolSpec {
                    #runtime::ToolSpec::new(#name, #description, #runtime::schema_of::<__Arguments>())
                }
                fn call<'__a>(&'__a self, __turn: #runtime::ToolInvocation<'__a, #s, #d>) -> #runtime::ToolFuture<'__a, #s> {
                    #runtime::Box::pin(async move {
                        let __arguments = #runtime::read_arguments::<__Arguments>(
                            #name,
                            ::core::clone::Clone::clone(&__turn.call.args),
                        )?;
                        #runtime::IntoToolOutput::into_tool_output(#call.await)
                    })
                }
            }
        };
    }
}

// #[superstep_agent::__private::tool_items(struct add {} fn add() -> add { add {} } ..)]
// struct add {}
//
// In an `impl` block, which the macro does not see, rustc then reports one item and not each of them.
pub(super) fn as_one(tool: &Tool, items: &TokenStream) -> TokenStream {
    let (ident, span) = (tool.ident(), tool.ident().span());
    let at_name = |mut token: TokenTree| {
        token.set_span(span);
        token
    };
    let runtime: TokenStream = tool.runtime.clone().into_iter().map(at_name).collect();
    let mut items = Group::new(Delimiter::Parenthesis, items.clone());
    items.set_span(span);
    quote_spanned!(span=> #[#runtime::tool_items #items] struct #ident {})
}

/// The expansion after a mistake: a tool that compiles and does nothing, or the method as it was.
pub(super) fn fallback(tool: &Tool) -> TokenStream {
    let (runtime, ident, vis) = (&tool.runtime, tool.ident(), &tool.vis);
    let ((s, d), lints) = (type_params(tool), lints());
    if tool.is_in_impl() {
        // An `impl` block cannot contain a struct.
        let Tool { docs, attrs, signature, block, .. } = tool;
        return quote!(#(#docs)* #(#attrs)* #vis #signature #block);
    }
    quote! {
        #lints
        #vis struct #ident {}
        #lints
        #vis fn #ident() -> #ident { #ident {} }
        #[doc(hidden)]
        #lints
        const _: () = {
            #[automatically_derived]
            impl<#s: #runtime::GraphState, #d: ::core::marker::Send + ::core::marker::Sync + 'static>
                #runtime::Tool<#s, #d> for #ident
            {
                fn spec(&self) -> #runtime::ToolSpec { ::core::unreachable!() }
                fn call<'__a>(&'__a self, __turn: #runtime::ToolInvocation<'__a, #s, #d>) -> #runtime::ToolFuture<'__a, #s> {
                    ::core::unreachable!()
                }
            }
        };
    }
}

/// The parameters for the state and the context of the graphs that can call the tool.
fn type_params(tool: &Tool) -> (Ident, Ident) {
    let (runtime, signature) = (&tool.runtime, &tool.signature);
    let ident = tool.ident();
    let types = tool.params.iter().map(|param| &param.ty);
    let mentioned = quote!(#runtime #ident #signature #(#types)*);
    (free_name("S", &mentioned), free_name("D", &mentioned))
}

fn lints() -> TokenStream {
    quote! {
        #[allow(
            dead_code, deprecated, missing_docs, non_camel_case_types, non_snake_case, non_upper_case_globals, unreachable_code, unreachable_pub, unused_variables,
            unused_qualifications, clippy::all, clippy::pedantic, clippy::nursery, clippy::restriction
        )]
    }
}

// /// Adds two numbers.
// struct add {}
// fn add() -> add { add {} }
// impl add { pub async fn call(..) -> .. { .. } }
//
// A struct without fields and a function, not one value for both: `let add = ..` would be a pattern that matches the
// value.
fn item(tool: &Tool) -> TokenStream {
    let Tool { vis, docs, attrs, signature, block, .. } = tool;
    let ident = tool.ident();
    let mut signature = signature.clone();
    signature.ident = Ident::new("call", ident.span());
    let name = ident.unraw();
    let doc = format!("The tool [`{name}`](struct@{name}).");
    quote! {
        #(#docs)*
        #[allow(non_camel_case_types)]
        #[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug)]
        #vis struct #ident {}

        #[doc = #doc]
        #[allow(dead_code)]
        #vis fn #ident() -> #ident { #ident {} }

        impl #ident {
            #(#docs)*
            #(#attrs)*
            #vis #signature #block
        }
    }
}

// const __FITS_0: bool = { let _ = <f64 as Argument>::FITS; true };
// type __Argument_0 = <f64 as Checked<__FITS_0>>::Same;
// #[derive(Deserialize, JsonSchema)]
// struct __Arguments { a: __Argument_0, b: __Argument_1 }
//
// A type that cannot be an argument is the only error: rustc reports nothing about code that depends on a broken
// constant.
fn arguments(tool: &Tool) -> TokenStream {
    let runtime = &tool.runtime;
    if let Some(all) = tool.all_arguments() {
        let fits = fits(runtime, &all.ty);
        let ty = &all.ty;
        return quote! {
            const __FITS: ::core::primitive::bool = { #fits true };
            type __Arguments = <#ty as #runtime::Checked<__FITS>>::Same;
        };
    }
    let checked = tool.arguments().enumerate().map(|(place, (param, _))| {
        let (constant, alias) = (format_ident!("__FITS_{place}"), format_ident!("__Argument_{place}"));
        let (fits, ty) = (fits(runtime, &param.ty), &param.ty);
        quote! {
            const #constant: ::core::primitive::bool = { #fits true };
            type #alias = <#ty as #runtime::Checked<#constant>>::Same;
        }
    });
    let (serde, schemars) = (quote!(#runtime::serde).to_string(), quote!(#runtime::schemars).to_string());
    let fields = tool.arguments().enumerate().filter_map(|(place, (param, attrs))| {
        let ident = param.ident.as_ref()?;
        let alias = format_ident!("__Argument_{place}", span = param.ty.span());
        Some(quote!(#(#attrs)* #ident: #alias,))
    });
    quote! {
        #(#checked)*
        #[derive(#runtime::serde::Deserialize, #runtime::schemars::JsonSchema)]
        #[serde(crate = #serde, deny_unknown_fields)]
        #[schemars(crate = #schemars)]
        struct __Arguments { #(#fields)* }
    }
}

/// `let _ = <f64 as Argument>::FITS;`, with the span of the type.
fn fits(runtime: &TokenStream, ty: &Type) -> TokenStream {
    let span = ty.span();
    let at_type = |mut token: TokenTree| {
        token.set_span(span);
        token
    };
    let runtime: TokenStream = runtime.clone().into_iter().map(at_type).collect();
    quote_spanned!(span=> let _ = <#ty as #runtime::Argument>::FITS;)
}

// add::call(__arguments.a, __arguments.b)
fn call(tool: &Tool) -> TokenStream {
    let (runtime, ident) = (&tool.runtime, tool.ident());
    let (s, d) = type_params(tool);
    let values = tool.params.iter().map(|param| match &param.kind {
        Kind::Argument(_) => {
            let name = &param.ident;
            quote!(__arguments.#name)
        }
        Kind::AllArguments => quote!(__arguments),
        Kind::Provided => {
            let ty = with_lifetime(&param.ty, "'static");
            quote!(#runtime::provided::<#ty, #s, #d>(__turn)?)
        }
    });
    quote!(#ident::call(#(#values),*))
}

// <&'static Chat as Param>::Fixed: for<'__b> Extract<S, D, At<'__b> = &'__b Chat>, String: IntoToolOutput<S>
fn bounds(tool: &Tool) -> Vec<TokenStream> {
    let (runtime, (s, d)) = (&tool.runtime, type_params(tool));
    let provided = |param: &Param| {
        let (fixed, borrowed) = (with_lifetime(&param.ty, "'static"), with_lifetime(&param.ty, "'__b"));
        quote! {
            <#fixed as #runtime::Param>::Fixed:
                for<'__b> #runtime::Extract<#s, #d, At<'__b> = #borrowed>
        }
    };
    let mut bounds: Vec<TokenStream> =
        tool.params.iter().filter(|param| matches!(param.kind, Kind::Provided)).map(provided).collect();
    let output = match &tool.signature.output {
        ReturnType::Default => quote!(()),
        ReturnType::Type(_, ty) => quote!(#ty),
    };
    bounds.push(quote!(#output: #runtime::IntoToolOutput<#s>));
    bounds
}

/// Returns a borrowing type with this lifetime.
fn with_lifetime(ty: &Type, lifetime: &str) -> TokenStream {
    let lifetime = Lifetime::new(lifetime, Span::call_site());
    match ty {
        Type::Reference(reference) => {
            let inner = &reference.elem;
            quote!(&#lifetime #inner)
        }
        other => {
            let mut tokens = TokenStream::new();
            replace_lifetimes(other.to_token_stream(), &lifetime, &mut tokens);
            tokens
        }
    }
}

/// Replaces every lifetime except `'static` by `lifetime`.
fn replace_lifetimes(tokens: TokenStream, lifetime: &Lifetime, into: &mut TokenStream) {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(punct) if punct.as_char() == '\'' => {
                let is_static = matches!(tokens.peek(), Some(TokenTree::Ident(name)) if name == "static");
                let name = tokens.next();
                if is_static {
                    let mut tick = Punct::new('\'', Spacing::Joint);
                    tick.set_span(punct.span());
                    into.extend([TokenTree::Punct(tick)].into_iter().chain(name));
                } else {
                    lifetime.to_tokens(into);
                }
            }
            TokenTree::Group(group) => {
                let mut inner = TokenStream::new();
                replace_lifetimes(group.stream(), lifetime, &mut inner);
                let mut group_of = Group::new(group.delimiter(), inner);
                group_of.set_span(group.span());
                into.extend([TokenTree::Group(group_of)]);
            }
            other => into.extend([other]),
        }
    }
}
