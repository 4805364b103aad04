use expect_test::{Expect, expect};
use syn::parse_quote;

use crate::snapshot::{mistakes, pretty, pretty_impl};

fn check(input: syn::DeriveInput, expected: &Expect) {
    expected.assert_eq(&pretty(super::derive(input)));
}

fn check_route(input: syn::DeriveInput, expected: &Expect) {
    expected.assert_eq(&pretty_impl(super::derive(input), "Route"));
}

fn check_mistakes(input: syn::DeriveInput, expected: &Expect) {
    expected.assert_eq(&mistakes(super::derive(input)));
}

#[test]
fn smallest_route() {
    check(
        parse_quote! {
            enum Verdict {
                #[to(draft)]
                Rework,
            }
        },
        &expect![[r#"
            const _: () = {
                #[automatically_derived]
                impl ::superstep::__private::Route for Verdict {
                    const TARGETS: ::core::option::Option<::superstep::__private::Targets> = ::core::option::Option::Some(::superstep::__private::Targets {
                        nodes: &["draft"],
                        names: &[],
                    });
                    fn exits() -> ::std::vec::Vec<::superstep::__private::Exit> {
                        ::core::convert::From::from([
                            ::superstep::__private::Exit::__new(
                                "Rework",
                                [::superstep::__private::Unsent.to(draft).unsent()],
                            ),
                        ])
                    }
                    fn into_choice(self) -> ::superstep::__private::Choice {
                        match self {
                            Self::Rework => ::superstep::__private::Choice::__new(0usize),
                        }
                    }
                }
                #[automatically_derived]
                impl ::superstep::__private::IntoLeave for Verdict {
                    type Route = Self;
                    const TARGETS: ::core::option::Option<::superstep::__private::Targets> = <Self as ::superstep::__private::Route>::TARGETS;
                    fn exits() -> ::std::vec::Vec<::superstep::__private::Exit> {
                        <Self as ::superstep::__private::Route>::exits()
                    }
                    fn into_leave(
                        self,
                    ) -> ::core::result::Result<
                        ::superstep::__private::Leave,
                        ::superstep::__private::NodeError,
                    > {
                        ::core::result::Result::Ok(
                            ::superstep::__private::Leave::By(
                                ::superstep::__private::Route::into_choice(self),
                            ),
                        )
                    }
                }
                #[automatically_derived]
                impl ::superstep::graph::text::KnownWays for Verdict {
                    const WAYS: ::superstep::graph::text::WaysOut = ::superstep::graph::text::WaysOut::ByRoute(
                        <Self as ::superstep::__private::Route>::TARGETS,
                    );
                    const WRITES: ::superstep::__private::WrittenFields = ::superstep::__private::WrittenFields::NONE;
                }
                #[automatically_derived]
                impl<S: ::superstep::__private::GraphState> ::superstep::__private::IntoStep<S>
                for Verdict {
                    const WRITES: ::superstep::__private::WrittenFields = ::superstep::__private::WrittenFields::NONE;
                    fn exits() -> ::core::option::Option<
                        ::std::vec::Vec<::superstep::__private::Exit>,
                    > {
                        ::core::option::Option::Some(
                            <Self as ::superstep::__private::Route>::exits(),
                        )
                    }
                    fn into_step(
                        self,
                    ) -> ::core::result::Result<
                        ::superstep::__private::Step<S>,
                        ::superstep::__private::NodeError,
                    > {
                        ::core::result::Result::Ok(
                            ::superstep::__private::Step::__leave(
                                ::superstep::__private::Leave::By(
                                    ::superstep::__private::Route::into_choice(self),
                                ),
                            ),
                        )
                    }
                }
            };
        "#]],
    );
}

#[test]
fn destinations_are_nodes_names_or_end() {
    check_route(
        parse_quote! {
            enum Verdict {
                #[to(END)]
                Accept,
                #[to(nodes::a, self::b, work::<u8>)]
                Several,
                #[to("second_draft")]
                Named,
                #[to(search)]
                #[route(label = "look it up")]
                Search(Query),
                #[to("second_search")]
                r#Again(Query),
            }
        },
        &expect![[r##"
            #[automatically_derived]
            impl ::superstep::__private::Route for Verdict {
                const TARGETS: ::core::option::Option<::superstep::__private::Targets> = ::core::option::Option::Some(::superstep::__private::Targets {
                    nodes: &["END", "a", "b", "work", "search"],
                    names: &["second_draft", "second_search"],
                });
                fn exits() -> ::std::vec::Vec<::superstep::__private::Exit> {
                    ::core::convert::From::from([
                        ::superstep::__private::Exit::__new(
                            "Accept",
                            [::superstep::__private::Unsent.to(END).unsent()],
                        ),
                        ::superstep::__private::Exit::__new(
                            "Several",
                            [
                                ::superstep::__private::Unsent.to(nodes::a).unsent(),
                                ::superstep::__private::Unsent.to(self::b).unsent(),
                                ::superstep::__private::Unsent.to(work::<u8>).unsent(),
                            ],
                        ),
                        ::superstep::__private::Exit::__new(
                            "Named",
                            [::superstep::__private::ExitTarget::named("second_draft")],
                        ),
                        ::superstep::__private::Exit::__with_packet::<
                            Query,
                            _,
                        >(
                            "look it up",
                            [
                                ::superstep::__private::Sent::<Query>::new()
                                    .to(search)
                                    .sent::<Query>(),
                            ],
                            ::superstep::__private::Sent::<Query>::new().reader(),
                        ),
                        ::superstep::__private::Exit::__with_packet::<
                            Query,
                            _,
                        >(
                            "Again",
                            [::superstep::__private::ExitTarget::named("second_search")],
                            ::superstep::__private::Sent::<Query>::new().reader(),
                        ),
                    ])
                }
                fn into_choice(self) -> ::superstep::__private::Choice {
                    match self {
                        Self::Accept => ::superstep::__private::Choice::__new(0usize),
                        Self::Several => ::superstep::__private::Choice::__new(1usize),
                        Self::Named => ::superstep::__private::Choice::__new(2usize),
                        Self::Search(__payload) => {
                            ::superstep::__private::Choice::sends::<Query>(3usize, __payload)
                        }
                        Self::r#Again(__payload) => {
                            ::superstep::__private::Choice::sends::<Query>(4usize, __payload)
                        }
                    }
                }
            }
        "##]],
    );
}

#[test]
fn generics_visibility_and_a_renamed_crate() {
    check_route(
        parse_quote! {
            #[route(crate = ::renamed::core)]
            pub(crate) enum Way<T: Payload, const N: usize = 3>
            where
                T: Clone,
            {
                #[to(work::<T>)]
                Work(T),
            }
        },
        &expect![[r##"
            #[automatically_derived]
            impl<T: Payload, const N: usize> ::renamed::core::__private::Route for Way<T, N>
            where
                T: Clone,
            {
                const TARGETS: ::core::option::Option<::renamed::core::__private::Targets> = ::core::option::Option::Some(::renamed::core::__private::Targets {
                    nodes: &["work"],
                    names: &[],
                });
                fn exits() -> ::std::vec::Vec<::renamed::core::__private::Exit> {
                    ::core::convert::From::from([
                        ::renamed::core::__private::Exit::__with_packet::<
                            T,
                            _,
                        >(
                            "Work",
                            [::renamed::core::__private::Sent::<T>::new().to(work::<T>).sent::<T>()],
                            ::renamed::core::__private::Sent::<T>::new().reader(),
                        ),
                    ])
                }
                fn into_choice(self) -> ::renamed::core::__private::Choice {
                    match self {
                        Self::Work(__payload) => {
                            ::renamed::core::__private::Choice::sends::<T>(0usize, __payload)
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
            #[to(draft)]
            #[route(label = "x", krate = ::renamed)]
            enum Verdict<'a> {
                Nowhere,
                #[to]
                Bare,
                #[to()]
                Empty,
                #[to(a)]
                #[to(b)]
                Twice,
                #[to(a, a, "a", "", "a")]
                Repeated,
                #[to(a + 1)]
                Expression,
                #[to(a b)]
                Comma,
                #[to(a)]
                Fields { query: Query },
                #[to(a)]
                Pair(Query, u8),
                #[to(a)]
                NoField(),
                #[to(a)]
                #[route(lable = "x", crate = ::x, to = a)]
                Keys,
                #[to(a)]
                #[route(label = "Keys")]
                Label,
                #[to(a)]
                #[route(label = "")]
                NoLabel,
                #[to(a)]
                #[route(label = "x", label = 3)]
                Borrowed(&'a str),
            }
        },
        &expect![[r#"
            `label` belongs on a variant
            unknown attribute `krate`, did you mean `crate`?
            `#[to(..)]` belongs on a variant, not on the enum
            write `#[to(node)]`, or `#[to(END)]` to end the branch
            `#[to()]` names no node: write `#[to(node)]`, or `#[to(END)]` to end the branch
            duplicate `#[to(..)]`: list several nodes in one attribute, `#[to(a, b)]`
            expected the path of a node, `END`, or a node's name as a string
            expected `,`
            a variant of a route has no field, or one unnamed field: `Name(Payload)`; put several values into one struct
            a variant of a route has no field, or one unnamed field: `Name(Payload)`; put several values into one struct
            a variant of a route has no field, or one unnamed field: `Name(Payload)`
            unknown attribute `lable`, did you mean `label`?
            `crate` belongs on the enum
            `to` is a separate attribute: write `#[to(node)]` on the variant
            `label` takes a string: `label = ".."`
            a route cannot have a lifetime parameter: it must own its payload
            variant `Nowhere` has no destination: write `#[to(node)]`, or `#[to(END)]` to end the branch
            duplicate destination `a`
            a node's name must not be empty
            duplicate destination `"a"`
            variant `Keys` has the same label `Keys`
            a label must not be empty
        "#]],
    );
}

#[test]
fn only_an_enum_with_variants_is_a_route() {
    check_mistakes(
        parse_quote! { struct Verdict; },
        &expect![[r#"
        a route must be an enum: each variant names the next node
    "#]],
    );
    check_mistakes(
        parse_quote! { union Verdict { a: u8 } },
        &expect![[r#"
        a route must be an enum: each variant names the next node
    "#]],
    );
    check_mistakes(
        parse_quote! { enum Verdict {} },
        &expect![[r#"
        a route needs at least one variant
    "#]],
    );
}
