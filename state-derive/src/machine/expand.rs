use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::Ident;
use syn::ext::IdentExt;

use crate::attr::ends;

use super::model::{Machine, Node};

/// ```text
/// enum FivesNode { Increment(Arc<Increment>) }
/// struct FivesRun { state: Stateless, start: Option<FivesNode>, end: Ending<i64> }
/// impl Machine for Fives { .. wiring.node::<Increment>(Increment::run) .. }
/// impl RunState for FivesRun { .. }
/// impl AnyNode for FivesNode { .. }
/// impl OutputOf<Fives> for i64 { .. }
/// impl NodeOf<Fives>, IntoNode<Fives>, Edge<Fives>, Leads<Fives> for Increment
/// ```
pub(crate) fn expand(machine: &Machine) -> TokenStream {
    let (any_node, run) = (expand_any_node(machine), expand_run(machine));
    let (of_machine, of_run) = (impl_machine(machine), impl_run_state(machine));
    let of_any_node = impl_any_node(machine);
    let nodes = machine.nodes.iter().map(|node| impls_of_node(machine, node));
    let checked = machine.nodes.iter().map(|node| expand_checked(machine, node));
    let (g, name, output) = (&machine.runtime, &machine.name, output(machine));
    quote! {
        #any_node
        #run
        const _: () = {
            #(#checked)*
            #of_machine
            #of_run
            #of_any_node

            #[automatically_derived]
            impl #g::OutputOf<#name> for #output {
                fn into_output(self) -> #output {
                    self
                }
            }

            #(#nodes)*
        };
    }
}

/// Returns an empty expansion. The mistakes are reported already, and nothing else can refer to an invalid machine.
pub(crate) fn fallback(_: &Machine) -> TokenStream {
    quote!(
        const _: () = {};
    )
}

fn output(machine: &Machine) -> TokenStream {
    machine.output.as_ref().map_or_else(|| quote!(()), |output| quote!(#output))
}

fn state(machine: &Machine) -> TokenStream {
    let g = &machine.runtime;
    machine.state.as_ref().map_or_else(|| quote!(#g::Stateless), |state| quote!(#state))
}

/// ```text
/// const __CHECK_Increment: bool = { let _ = <Increment as NodeData>::FITS; true };
/// type __Node_Increment = <Increment as Checked<__CHECK_Increment>>::Same;
/// ```
///
/// A type that cannot be stored is an error in the constant, at the type. The alias is then an error type, and rustc
/// reports nothing about other code that uses it.
fn expand_checked(machine: &Machine, Node { ty, variant, .. }: &Node) -> TokenStream {
    let (first, last) = ends(ty);
    let (g, at) = (&machine.runtime, machine.runtime.at(first));
    let (constant, alias) =
        (format_ident!("__CHECK_{}", variant.unraw(), span = Span::call_site()), alias(variant));
    let (open, close) = (quote_spanned!(first=> <), quote_spanned!(last=> as #at::NodeData>::FITS));
    quote! {
        const #constant: ::core::primitive::bool = {
            let _ = #open #ty #close;
            true
        };
        type #alias = <#ty as #g::Checked<#constant>>::Same;
    }
}

/// Returns the alias of a node's type in generated code.
fn alias(variant: &Ident) -> Ident {
    format_ident!("__Node_{}", variant.unraw(), span = Span::call_site())
}

/// `enum FivesNode { Increment(Arc<Increment>) }`
fn expand_any_node(machine: &Machine) -> TokenStream {
    let (vis, any_node) = (&machine.visibility, machine.any_node());
    let doc = format!("Any node of [`{}`], with its data.", machine.name);
    let variants = machine.nodes.iter().map(|Node { ty, variant, .. }| {
        let doc = format!("The node [`{variant}`].");
        quote! {
            #[doc = #doc]
            #variant(::std::sync::Arc<#ty>),
        }
    });
    quote! {
        #[doc = #doc]
        #[derive(::core::clone::Clone)]
        #vis enum #any_node {
            #(#variants)*
        }
    }
}

/// `struct FivesRun { state: .., start: Option<FivesNode>, end: Ending<i64> }`
fn expand_run(machine: &Machine) -> TokenStream {
    let (g, vis, run, any_node) = (&machine.runtime, &machine.visibility, machine.run(), machine.any_node());
    let (state, output) = (state(machine), output(machine));
    let krate = g.krate();
    let doc = format!(
        "The state of a run of [`{}`]: the machine's own state, the start node and the output.",
        machine.name
    );
    quote! {
        #[doc = #doc]
        #[derive(#krate::GraphState, ::core::clone::Clone)]
        #[state(crate = #krate)]
        #vis struct #run {
            /// The machine's own state.
            #[state(flatten, input)]
            #vis state: #state,
            /// The node that the run started at, or was redirected to.
            #[state(input, exclude, rename = "@start")]
            start: ::core::option::Option<#any_node>,
            /// The output of the machine.
            #[state(input, default, rename = "@end")]
            end: #g::Ending<#output>,
        }
    }
}

/// `impl Machine for Fives`
fn impl_machine(machine: &Machine) -> TokenStream {
    let (g, name, run, any_node) = (&machine.runtime, &machine.name, machine.run(), machine.any_node());
    let (state, output) = (state(machine), output(machine));
    let context = machine.context.as_ref().map_or_else(|| quote!(()), |context| quote!(#context));
    let text = name.to_string();
    let nodes = machine.nodes.iter().map(expand_wiring);
    quote! {
        #[automatically_derived]
        impl #g::Machine for #name {
            const NAME: &'static ::core::primitive::str = #text;
            type State = #state;
            type Context = #context;
            type Output = #output;
            type Node = #any_node;
            type Run = #run;

            fn compile() -> ::core::result::Result<#g::StateMachine<Self>, #g::Error> {
                let __wiring = #g::Wiring::<Self>::begin();
                #(let __wiring = #nodes;)*
                __wiring.compile()
            }
        }
    }
}

/// `wiring.node::<Increment, _, _>(<Increment>::run)`
///
/// The spans run from the first to the last token of the type, so rustc underlines the type in every error about the
/// node.
fn expand_wiring(Node { ty, variant, .. }: &Node) -> TokenStream {
    let (first, last) = ends(ty);
    let mut alias = alias(variant);
    alias.set_span(first);
    let (open, close) = (quote_spanned!(first=> <#alias), quote_spanned!(last=> >::run));
    quote_spanned!(first=> __wiring.node::<#alias, _, _, _, _>(#open #close))
}

/// `impl RunState for FivesRun`
fn impl_run_state(machine: &Machine) -> TokenStream {
    let (g, name, run, any_node) = (&machine.runtime, &machine.name, machine.run(), machine.any_node());
    let (state, output) = (state(machine), output(machine));
    quote! {
        #[automatically_derived]
        impl #g::RunState for #run {
            type Machine = #name;

            fn __state(&self) -> &#state {
                &self.state
            }

            fn __output(&self) -> ::core::option::Option<&#output> {
                self.end.output()
            }

            fn __into_parts(self) -> (#state, ::core::option::Option<#output>) {
                (self.state, self.end.into_output())
            }

            fn __start(&self) -> ::core::option::Option<&#any_node> {
                self.start.as_ref()
            }

            fn __begin(
                __node: #any_node,
                __state: <#state as #g::GraphState>::Input,
            ) -> <Self as #g::GraphState>::Input {
                #run::input(__state).start(__node).end(#g::Ending::Open)
            }

            fn __redirect(__node: #any_node) -> <Self as #g::GraphState>::Update {
                #run::update().start(__node).end(#g::Ending::Open)
            }

            fn __end(__output: #output) -> <Self as #g::GraphState>::Update {
                #run::update().end(#g::Ending::End(__output))
            }
        }
    }
}

/// `impl AnyNode for FivesNode`, and a `Debug` impl without bounds on the nodes.
fn impl_any_node(machine: &Machine) -> TokenStream {
    let (g, name, any_node) = (&machine.runtime, &machine.name, machine.any_node());
    let variants: Vec<_> = machine.nodes.iter().map(|node| &node.variant).collect();
    let types: Vec<_> = machine.nodes.iter().map(|node| alias(&node.variant)).collect();
    let names: Vec<_> = machine.nodes.iter().map(Node::name).collect();
    let places: Vec<_> = (0..machine.nodes.len()).collect();
    let numbers = (0_u32..).take(machine.nodes.len());
    quote! {
        #[automatically_derived]
        impl #g::AnyNode for #any_node {
            type Machine = #name;

            fn name(&self) -> &'static ::core::primitive::str {
                match self {
                    #(Self::#variants(_) => #names,)*
                }
            }

            fn __sent(&self) -> (::core::primitive::usize, #g::Packet) {
                match self {
                    #(Self::#variants(__node) => (#places, #g::Packet::share::<#types>(::core::clone::Clone::clone(__node))),)*
                }
            }

            fn __received(
                __name: &::core::primitive::str,
                __packet: &#g::Packet,
            ) -> ::core::option::Option<Self> {
                match __name {
                    #(#names => ::core::option::Option::map(__packet.shared::<#types>(), Self::#variants),)*
                    _ => ::core::option::Option::None,
                }
            }

            const __NAMES: &'static [&'static ::core::primitive::str] = &[#(#names),*];

            fn __read<'__de, __V: #g::serde::de::VariantAccess<'__de>>(
                __place: ::core::primitive::usize,
                __data: __V,
            ) -> ::core::result::Result<Self, __V::Error> {
                match __place {
                    #(#places => ::core::result::Result::Ok(Self::#variants(::std::sync::Arc::new(
                        __data.newtype_variant::<#types>()?
                    ))),)*
                    _ => ::core::result::Result::Err(#g::serde::de::Error::custom("no node is at this place")),
                }
            }

            fn __exits() -> ::std::vec::Vec<#g::Exit> {
                ::core::convert::From::from([#(#g::exit_to::<#name, #types>()),*])
            }
        }

        #[automatically_derived]
        impl #g::serde::Serialize for #any_node {
            fn serialize<__S: #g::serde::Serializer>(
                &self,
                __serializer: __S,
            ) -> ::core::result::Result<__S::Ok, __S::Error> {
                match self {
                    #(Self::#variants(__node) => {
                        __serializer.serialize_newtype_variant::<#types>("Node", #numbers, #names, __node)
                    })*
                }
            }
        }

        #[automatically_derived]
        impl<'__de> #g::serde::Deserialize<'__de> for #any_node {
            fn deserialize<__D: #g::serde::Deserializer<'__de>>(
                __deserializer: __D,
            ) -> ::core::result::Result<Self, __D::Error> {
                #g::read_node::<Self, __D>(__deserializer)
            }
        }

        #[automatically_derived]
        impl ::core::fmt::Debug for #any_node {
            fn fmt(&self, __f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                match self {
                    #(Self::#variants(__node) => #g::debug_node::<#types>(#names, __node, __f),)*
                }
            }
        }

        #[automatically_derived]
        impl #g::IntoNode<#name> for #any_node {
            fn into_node(self) -> Self {
                self
            }
        }
    }
}

/// The impls of a node for its machine.
fn impls_of_node(machine: &Machine, node: &Node) -> TokenStream {
    let (g, name, run, any_node) = (&machine.runtime, &machine.name, machine.run(), machine.any_node());
    let Node { ty, variant, .. } = node;
    let (text, alias) = (node.name(), alias(variant));
    quote! {
        #[automatically_derived]
        impl #g::NodeOf<#name> for #ty {
            const NAME: &'static ::core::primitive::str = #text;
        }

        #[automatically_derived]
        impl #g::IntoNode<#name> for #ty {
            fn into_node(self) -> #any_node {
                #any_node::#variant(::std::sync::Arc::new(self))
            }
        }

        #[automatically_derived]
        impl ::core::convert::From<#ty> for #any_node {
            fn from(__node: #ty) -> Self {
                Self::#variant(::std::sync::Arc::new(__node))
            }
        }

        #[automatically_derived]
        impl #g::Edge<#name> for #ty {
            fn exit() -> #g::Exit {
                #g::exit_to::<#name, #alias>()
            }

            fn into_way(self) -> #g::Way<#name> {
                #g::Way::node::<#alias>(self)
            }
        }

        #[automatically_derived]
        impl #g::Leads<#name> for #ty {
            fn exits() -> ::std::vec::Vec<#g::Exit> {
                ::core::convert::From::from([#g::exit_to::<#name, #alias>()])
            }

            fn leave(
                self,
                __update: <#run as #g::GraphState>::Update,
            ) -> ::core::result::Result<#g::Step<#run>, #g::NodeError> {
                ::core::result::Result::Ok(#g::Way::<#name>::node::<#alias>(self).step(__update))
            }
        }
    }
}
