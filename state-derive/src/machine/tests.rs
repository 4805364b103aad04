use expect_test::{Expect, expect};
use syn::parse_quote;

use crate::snapshot::{mistakes, pretty, pretty_impl};

fn check(input: syn::DeriveInput, expected: &Expect) {
    expected.assert_eq(&pretty(super::derive(input)));
}

fn check_impl(input: syn::DeriveInput, of: &str, expected: &Expect) {
    expected.assert_eq(&pretty_impl(super::derive(input), of));
}

fn check_mistakes(input: syn::DeriveInput, expected: &Expect) {
    expected.assert_eq(&mistakes(super::derive(input)));
}

#[test]
fn smallest_machine() {
    check(
        parse_quote! {
            #[machine(nodes(Check))]
            struct Fives;
        },
        &expect![[r#"
            ///Any node of [`Fives`], with its data.
            #[derive(::core::clone::Clone)]
            enum FivesNode {
                ///The node [`Check`].
                Check(::std::sync::Arc<Check>),
            }
            ///The state of a run of [`Fives`]: the machine's own state, the start node and the output.
            #[derive(::superstep::GraphState, ::core::clone::Clone)]
            #[state(crate = ::superstep)]
            struct FivesRun {
                /// The machine's own state.
                #[state(flatten, input)]
                state: ::superstep::__private::Stateless,
                /// The node that the run started at, or was redirected to.
                #[state(input, exclude, rename = "@start")]
                start: ::core::option::Option<FivesNode>,
                /// The output of the machine.
                #[state(input, default, rename = "@end")]
                end: ::superstep::__private::Ending<()>,
            }
            const _: () = {
                const __CHECK_Check: ::core::primitive::bool = {
                    let _ = <Check as ::superstep::__private::NodeData>::FITS;
                    true
                };
                type __Node_Check = <Check as ::superstep::__private::Checked<__CHECK_Check>>::Same;
                #[automatically_derived]
                impl ::superstep::__private::Machine for Fives {
                    const NAME: &'static ::core::primitive::str = "Fives";
                    type State = ::superstep::__private::Stateless;
                    type Context = ();
                    type Output = ();
                    type Node = FivesNode;
                    type Run = FivesRun;
                    fn compile() -> ::core::result::Result<
                        ::superstep::__private::StateMachine<Self>,
                        ::superstep::__private::Error,
                    > {
                        let __wiring = ::superstep::__private::Wiring::<Self>::begin();
                        let __wiring = __wiring
                            .node::<__Node_Check, _, _, _, _>(<__Node_Check>::run);
                        __wiring.compile()
                    }
                }
                #[automatically_derived]
                impl ::superstep::__private::RunState for FivesRun {
                    type Machine = Fives;
                    fn __state(&self) -> &::superstep::__private::Stateless {
                        &self.state
                    }
                    fn __output(&self) -> ::core::option::Option<&()> {
                        self.end.output()
                    }
                    fn __into_parts(
                        self,
                    ) -> (::superstep::__private::Stateless, ::core::option::Option<()>) {
                        (self.state, self.end.into_output())
                    }
                    fn __start(&self) -> ::core::option::Option<&FivesNode> {
                        self.start.as_ref()
                    }
                    fn __begin(
                        __node: FivesNode,
                        __state: <::superstep::__private::Stateless as ::superstep::__private::GraphState>::Input,
                    ) -> <Self as ::superstep::__private::GraphState>::Input {
                        FivesRun::input(__state)
                            .start(__node)
                            .end(::superstep::__private::Ending::Open)
                    }
                    fn __redirect(
                        __node: FivesNode,
                    ) -> <Self as ::superstep::__private::GraphState>::Update {
                        FivesRun::update().start(__node).end(::superstep::__private::Ending::Open)
                    }
                    fn __end(__output: ()) -> <Self as ::superstep::__private::GraphState>::Update {
                        FivesRun::update().end(::superstep::__private::Ending::End(__output))
                    }
                }
                #[automatically_derived]
                impl ::superstep::__private::AnyNode for FivesNode {
                    type Machine = Fives;
                    fn name(&self) -> &'static ::core::primitive::str {
                        match self {
                            Self::Check(_) => "Check",
                        }
                    }
                    fn __sent(&self) -> (::core::primitive::usize, ::superstep::__private::Packet) {
                        match self {
                            Self::Check(__node) => {
                                (
                                    0usize,
                                    ::superstep::__private::Packet::share::<
                                        __Node_Check,
                                    >(::core::clone::Clone::clone(__node)),
                                )
                            }
                        }
                    }
                    fn __received(
                        __name: &::core::primitive::str,
                        __packet: &::superstep::__private::Packet,
                    ) -> ::core::option::Option<Self> {
                        match __name {
                            "Check" => {
                                ::core::option::Option::map(
                                    __packet.shared::<__Node_Check>(),
                                    Self::Check,
                                )
                            }
                            _ => ::core::option::Option::None,
                        }
                    }
                    const __NAMES: &'static [&'static ::core::primitive::str] = &["Check"];
                    fn __read<'__de, __V: ::superstep::__private::serde::de::VariantAccess<'__de>>(
                        __place: ::core::primitive::usize,
                        __data: __V,
                    ) -> ::core::result::Result<Self, __V::Error> {
                        match __place {
                            0usize => {
                                ::core::result::Result::Ok(
                                    Self::Check(
                                        ::std::sync::Arc::new(
                                            __data.newtype_variant::<__Node_Check>()?,
                                        ),
                                    ),
                                )
                            }
                            _ => {
                                ::core::result::Result::Err(
                                    ::superstep::__private::serde::de::Error::custom(
                                        "no node is at this place",
                                    ),
                                )
                            }
                        }
                    }
                    fn __exits() -> ::std::vec::Vec<::superstep::__private::Exit> {
                        ::core::convert::From::from([
                            ::superstep::__private::exit_to::<Fives, __Node_Check>(),
                        ])
                    }
                }
                #[automatically_derived]
                impl ::superstep::__private::serde::Serialize for FivesNode {
                    fn serialize<__S: ::superstep::__private::serde::Serializer>(
                        &self,
                        __serializer: __S,
                    ) -> ::core::result::Result<__S::Ok, __S::Error> {
                        match self {
                            Self::Check(__node) => {
                                __serializer
                                    .serialize_newtype_variant::<
                                        __Node_Check,
                                    >("Node", 0u32, "Check", __node)
                            }
                        }
                    }
                }
                #[automatically_derived]
                impl<'__de> ::superstep::__private::serde::Deserialize<'__de> for FivesNode {
                    fn deserialize<__D: ::superstep::__private::serde::Deserializer<'__de>>(
                        __deserializer: __D,
                    ) -> ::core::result::Result<Self, __D::Error> {
                        ::superstep::__private::read_node::<Self, __D>(__deserializer)
                    }
                }
                #[automatically_derived]
                impl ::core::fmt::Debug for FivesNode {
                    fn fmt(&self, __f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                        match self {
                            Self::Check(__node) => {
                                ::superstep::__private::debug_node::<
                                    __Node_Check,
                                >("Check", __node, __f)
                            }
                        }
                    }
                }
                #[automatically_derived]
                impl ::superstep::__private::IntoNode<Fives> for FivesNode {
                    fn into_node(self) -> Self {
                        self
                    }
                }
                #[automatically_derived]
                impl ::superstep::__private::OutputOf<Fives> for () {
                    fn into_output(self) -> () {
                        self
                    }
                }
                #[automatically_derived]
                impl ::superstep::__private::NodeOf<Fives> for Check {
                    const NAME: &'static ::core::primitive::str = "Check";
                }
                #[automatically_derived]
                impl ::superstep::__private::IntoNode<Fives> for Check {
                    fn into_node(self) -> FivesNode {
                        FivesNode::Check(::std::sync::Arc::new(self))
                    }
                }
                #[automatically_derived]
                impl ::core::convert::From<Check> for FivesNode {
                    fn from(__node: Check) -> Self {
                        Self::Check(::std::sync::Arc::new(__node))
                    }
                }
                #[automatically_derived]
                impl ::superstep::__private::Edge<Fives> for Check {
                    fn exit() -> ::superstep::__private::Exit {
                        ::superstep::__private::exit_to::<Fives, __Node_Check>()
                    }
                    fn into_way(self) -> ::superstep::__private::Way<Fives> {
                        ::superstep::__private::Way::node::<__Node_Check>(self)
                    }
                }
                #[automatically_derived]
                impl ::superstep::__private::Leads<Fives> for Check {
                    fn exits() -> ::std::vec::Vec<::superstep::__private::Exit> {
                        ::core::convert::From::from([
                            ::superstep::__private::exit_to::<Fives, __Node_Check>(),
                        ])
                    }
                    fn leave(
                        self,
                        __update: <FivesRun as ::superstep::__private::GraphState>::Update,
                    ) -> ::core::result::Result<
                        ::superstep::__private::Step<FivesRun>,
                        ::superstep::__private::NodeError,
                    > {
                        ::core::result::Result::Ok(
                            ::superstep::__private::Way::<Fives>::node::<__Node_Check>(self)
                                .step(__update),
                        )
                    }
                }
            };
        "#]],
    );
}

#[test]
fn state_output_and_context() {
    check_impl(
        parse_quote! {
            #[machine(nodes(a::Check), output = Vec<u8>, state = Basket, context = Prices, crate = ::renamed)]
            pub(crate) struct Shop;
        },
        "Machine",
        &expect![[r##"
            #[automatically_derived]
            impl ::renamed::__private::Machine for Shop {
                const NAME: &'static ::core::primitive::str = "Shop";
                type State = Basket;
                type Context = Prices;
                type Output = Vec<u8>;
                type Node = ShopNode;
                type Run = ShopRun;
                fn compile() -> ::core::result::Result<
                    ::renamed::__private::StateMachine<Self>,
                    ::renamed::__private::Error,
                > {
                    let __wiring = ::renamed::__private::Wiring::<Self>::begin();
                    let __wiring = __wiring.node::<__Node_Check, _, _, _, _>(<__Node_Check>::run);
                    __wiring.compile()
                }
            }
        "##]],
    );
}

#[test]
fn nodes_are_stored_by_name() {
    let shop = || {
        parse_quote! {
            #[machine(nodes(Check, Leave = "leave"))]
            struct Shop;
        }
    };
    check_impl(
        shop(),
        "AnyNode",
        &expect![[r##"
            #[automatically_derived]
            impl ::superstep::__private::AnyNode for ShopNode {
                type Machine = Shop;
                fn name(&self) -> &'static ::core::primitive::str {
                    match self {
                        Self::Check(_) => "Check",
                        Self::Leave(_) => "leave",
                    }
                }
                fn __sent(&self) -> (::core::primitive::usize, ::superstep::__private::Packet) {
                    match self {
                        Self::Check(__node) => {
                            (
                                0usize,
                                ::superstep::__private::Packet::share::<
                                    __Node_Check,
                                >(::core::clone::Clone::clone(__node)),
                            )
                        }
                        Self::Leave(__node) => {
                            (
                                1usize,
                                ::superstep::__private::Packet::share::<
                                    __Node_Leave,
                                >(::core::clone::Clone::clone(__node)),
                            )
                        }
                    }
                }
                fn __received(
                    __name: &::core::primitive::str,
                    __packet: &::superstep::__private::Packet,
                ) -> ::core::option::Option<Self> {
                    match __name {
                        "Check" => {
                            ::core::option::Option::map(
                                __packet.shared::<__Node_Check>(),
                                Self::Check,
                            )
                        }
                        "leave" => {
                            ::core::option::Option::map(
                                __packet.shared::<__Node_Leave>(),
                                Self::Leave,
                            )
                        }
                        _ => ::core::option::Option::None,
                    }
                }
                const __NAMES: &'static [&'static ::core::primitive::str] = &["Check", "leave"];
                fn __read<'__de, __V: ::superstep::__private::serde::de::VariantAccess<'__de>>(
                    __place: ::core::primitive::usize,
                    __data: __V,
                ) -> ::core::result::Result<Self, __V::Error> {
                    match __place {
                        0usize => {
                            ::core::result::Result::Ok(
                                Self::Check(
                                    ::std::sync::Arc::new(__data.newtype_variant::<__Node_Check>()?),
                                ),
                            )
                        }
                        1usize => {
                            ::core::result::Result::Ok(
                                Self::Leave(
                                    ::std::sync::Arc::new(__data.newtype_variant::<__Node_Leave>()?),
                                ),
                            )
                        }
                        _ => {
                            ::core::result::Result::Err(
                                ::superstep::__private::serde::de::Error::custom(
                                    "no node is at this place",
                                ),
                            )
                        }
                    }
                }
                fn __exits() -> ::std::vec::Vec<::superstep::__private::Exit> {
                    ::core::convert::From::from([
                        ::superstep::__private::exit_to::<Shop, __Node_Check>(),
                        ::superstep::__private::exit_to::<Shop, __Node_Leave>(),
                    ])
                }
            }
        "##]],
    );
    check_impl(
        shop(),
        "Serialize",
        &expect![[r##"
        #[automatically_derived]
        impl ::superstep::__private::serde::Serialize for ShopNode {
            fn serialize<__S: ::superstep::__private::serde::Serializer>(
                &self,
                __serializer: __S,
            ) -> ::core::result::Result<__S::Ok, __S::Error> {
                match self {
                    Self::Check(__node) => {
                        __serializer
                            .serialize_newtype_variant::<
                                __Node_Check,
                            >("Node", 0u32, "Check", __node)
                    }
                    Self::Leave(__node) => {
                        __serializer
                            .serialize_newtype_variant::<
                                __Node_Leave,
                            >("Node", 1u32, "leave", __node)
                    }
                }
            }
        }
    "##]],
    );
}

#[test]
fn every_mistake_is_reported() {
    check_mistakes(
        parse_quote! {
            #[machine(nodes(A, other::A, B = "A", C = "END", D = "", &str), ouput = u8, state = 1, context = X, context = Y)]
            struct Several<T>(T);
        },
        &expect![[r#"
            a machine must be a unit struct, `struct Name;`, with its nodes in `#[machine(nodes(A, B))]`
            unknown attribute `ouput`, did you mean `output`?
            `state` takes a type: `state = Type`
            duplicate `context`
            expected the name of a struct or an enum
            a machine cannot have generic parameters
            duplicate node `A`: the type names of a machine's nodes must differ
            duplicate node name `A`
            a node cannot be called `END`: give it another name, `Node = "name"`
            a node cannot be called ``: give it another name, `Node = "name"`
        "#]],
    );
    check_mistakes(
        parse_quote! {
            #[machine(nodes())]
            enum None {}
        },
        &expect![[r#"
            a machine must be a unit struct, `struct Name;`, with its nodes in `#[machine(nodes(A, B))]`
            `nodes` takes a list of node types
        "#]],
    );
}
