use expect_test::{Expect, expect};
use syn::parse_quote;

use crate::snapshot::{mistakes, pretty};

fn check(input: syn::DeriveInput, expected: &Expect) {
    expected.assert_eq(&pretty(super::derive(input)));
}

fn check_mistakes(input: syn::DeriveInput, expected: &Expect) {
    expected.assert_eq(&mistakes(super::derive(input)));
}

#[test]
fn update_calls_the_setters() {
    check(
        parse_quote! {
            #[update(of = Ticket)]
            pub(crate) struct Answered {
                answer: String,
                #[update(to = notes, skip_none)]
                said: Option<Vec<String>>,
                #[update(flatten)]
                chat: Said,
                r#type: &'static str,
            }
        },
        &expect![[r#"
            const _: () = {
                use ::superstep::__private::NoOverwrite as _;
                const __FIELDS: ::core::primitive::bool = {
                    let _ = <Ticket as ::superstep::__private::GraphState>::FIELD_COUNT;
                    let _ = |__state: &Ticket| {
                        let _ = &(*__state).answer;
                        let _ = &(*__state).notes;
                        let _ = &(*__state).chat;
                        let _ = &(*__state).r#type;
                    };
                    true
                };
                type __Known = <Ticket as ::superstep::__private::Checked<__FIELDS>>::Same;
                const __KINDS: ::core::primitive::bool = {
                    ::superstep::__private::plain_field(&__Known::ANSWER);
                    ::superstep::__private::plain_field(&__Known::NOTES);
                    ::superstep::__private::flattened_field(&__Known::CHAT);
                    ::superstep::__private::plain_field(&__Known::TYPE);
                    true
                };
                type __Sorted = <__Known as ::superstep::__private::Checked<__KINDS>>::Same;
                const __PARTS: ::core::primitive::bool = {
                    let _ = ::superstep::__private::flattened_writes(
                        &__Sorted::CHAT,
                        &<::superstep::__private::GivenValue<
                            <Said as ::superstep::__private::Checked<__KINDS>>::Same,
                        >>::__new(),
                    );
                    true
                };
                type __State = <__Sorted as ::superstep::__private::Checked<__PARTS>>::Same;
                type __Part2 = <Said as ::superstep::__private::Checked<__PARTS>>::Same;
                #[automatically_derived]
                impl Answered {
                    ///The fields of the state that `Answered` can write.
                    pub(crate) const WRITES: ::superstep::__private::WrittenFields = ::superstep::__private::WrittenFields::__new(
                        const {
                            &[
                                ::superstep::__private::WrittenField::__new(
                                    &<__State>::ANSWER,
                                    <::superstep::__private::GivenValue<String>>::OVERWRITES,
                                    true,
                                ),
                                ::superstep::__private::WrittenField::__new(
                                    &<__State>::NOTES,
                                    <::superstep::__private::GivenValue<Vec<String>>>::OVERWRITES,
                                    false,
                                ),
                                ::superstep::__private::WrittenField::__new(
                                    &<__State>::TYPE,
                                    <::superstep::__private::GivenValue<&'static str>>::OVERWRITES,
                                    true,
                                ),
                            ]
                        },
                        const {
                            &[
                                (
                                    ::superstep::__private::flattened_writes(
                                        &<__State>::CHAT,
                                        &<::superstep::__private::GivenValue<__Part2>>::__new(),
                                    ),
                                    true,
                                ),
                            ]
                        },
                    );
                }
                #[automatically_derived]
                impl<
                    S: ::superstep::__private::Holds<
                            __State,
                            Part = <__State as ::superstep::__private::GraphState>::Update,
                        >,
                > ::superstep::__private::IntoUpdate<S> for Answered {
                    const WRITES: ::superstep::__private::WrittenFields = <Answered>::WRITES;
                    #[inline]
                    fn into_update(self) -> <S as ::superstep::__private::GraphState>::Update {
                        let mut __update = <<__State as ::superstep::__private::GraphState>::Update as ::core::default::Default>::default();
                        let __field_0 = (self.answer,);
                        __update = __update.answer(__field_0.0);
                        if let ::core::option::Option::Some(__inside) = self.said {
                            let __field_1 = (__inside,);
                            __update = __update.notes(__field_1.0);
                        }
                        let __field_2 = (self.chat,);
                        __update = __update.chat(__field_2.0);
                        let __field_3 = (self.r#type,);
                        __update = __update.r#type(__field_3.0);
                        <S as ::superstep::__private::Holds<__State>>::lift(__update)
                    }
                }
                #[automatically_derived]
                impl<
                    S: ::superstep::__private::Holds<
                            __State,
                            Part = <__State as ::superstep::__private::GraphState>::Update,
                        >,
                > ::superstep::__private::IntoStep<S> for Answered {
                    const WRITES: ::superstep::__private::WrittenFields = <Answered>::WRITES;
                    fn exits() -> ::core::option::Option<
                        ::superstep::__private::Vec<::superstep::__private::Exit>,
                    > {
                        ::core::option::Option::None
                    }
                    #[inline]
                    fn into_step(
                        self,
                    ) -> ::core::result::Result<
                        ::superstep::__private::Step<S>,
                        ::superstep::__private::NodeError,
                    > {
                        ::core::result::Result::Ok(
                            ::superstep::__private::Step::update(
                                ::superstep::__private::IntoUpdate::<S>::into_update(self),
                            ),
                        )
                    }
                }
                #[automatically_derived]
                impl ::superstep::graph::text::KnownWays for Answered {
                    const WAYS: ::superstep::graph::text::WaysOut = ::superstep::graph::text::WaysOut::ByEdges;
                    const WRITES: ::superstep::__private::WrittenFields = <Answered>::WRITES;
                }
            };
        "#]],
    );
}

#[test]
fn generic_state_is_named_directly() {
    check(
        parse_quote! {
            #[update(of = Slot<T>, crate = ::renamed)]
            struct Put<'a, T: Clone, const N: usize = 3>
            where
                T: Default,
            {
                value: T,
                name: &'a str,
            }
        },
        &expect![[r#"
            const _: () = {
                use ::renamed::__private::NoOverwrite as _;
                #[automatically_derived]
                impl<'a, T: Clone, const N: usize> Put<'a, T, N>
                where
                    T: Default,
                {
                    ///The fields of the state that `Put` can write.
                    const WRITES: ::renamed::__private::WrittenFields = ::renamed::__private::WrittenFields::__new(
                        const {
                            &[
                                ::renamed::__private::WrittenField::__new(
                                    &<Slot<T>>::VALUE,
                                    true,
                                    false,
                                ),
                                ::renamed::__private::WrittenField::__new(
                                    &<Slot<T>>::NAME,
                                    <::renamed::__private::GivenValue<&'a str>>::OVERWRITES,
                                    true,
                                ),
                            ]
                        },
                        const { &[] },
                    );
                }
                #[automatically_derived]
                impl<
                    'a,
                    T: Clone,
                    const N: usize,
                    S: ::renamed::__private::Holds<
                            Slot<T>,
                            Part = <Slot<T> as ::renamed::__private::GraphState>::Update,
                        >,
                > ::renamed::__private::IntoUpdate<S> for Put<'a, T, N>
                where
                    T: Default,
                {
                    const WRITES: ::renamed::__private::WrittenFields = <Put<'a, T, N>>::WRITES;
                    #[inline]
                    fn into_update(self) -> <S as ::renamed::__private::GraphState>::Update {
                        let mut __update = <<Slot<
                            T,
                        > as ::renamed::__private::GraphState>::Update as ::core::default::Default>::default();
                        let __field_0 = (self.value,);
                        __update = __update.value(__field_0.0);
                        let __field_1 = (self.name,);
                        __update = __update.name(__field_1.0);
                        <S as ::renamed::__private::Holds<Slot<T>>>::lift(__update)
                    }
                }
                #[automatically_derived]
                impl<
                    'a,
                    T: Clone,
                    const N: usize,
                    S: ::renamed::__private::Holds<
                            Slot<T>,
                            Part = <Slot<T> as ::renamed::__private::GraphState>::Update,
                        >,
                > ::renamed::__private::IntoStep<S> for Put<'a, T, N>
                where
                    T: Default,
                {
                    const WRITES: ::renamed::__private::WrittenFields = <Put<'a, T, N>>::WRITES;
                    fn exits() -> ::core::option::Option<
                        ::renamed::__private::Vec<::renamed::__private::Exit>,
                    > {
                        ::core::option::Option::None
                    }
                    #[inline]
                    fn into_step(
                        self,
                    ) -> ::core::result::Result<
                        ::renamed::__private::Step<S>,
                        ::renamed::__private::NodeError,
                    > {
                        ::core::result::Result::Ok(
                            ::renamed::__private::Step::update(
                                ::renamed::__private::IntoUpdate::<S>::into_update(self),
                            ),
                        )
                    }
                }
                #[automatically_derived]
                impl<'a, T: Clone, const N: usize> ::renamed::graph::text::KnownWays
                for Put<'a, T, N>
                where
                    T: Default,
                {
                    const WAYS: ::renamed::graph::text::WaysOut = ::renamed::graph::text::WaysOut::ByEdges;
                    const WRITES: ::renamed::__private::WrittenFields = <Put<'a, T, N>>::WRITES;
                }
            };
        "#]],
    );
}

#[test]
fn every_mistake_is_reported() {
    check_mistakes(
        parse_quote! {
            #[update(to = chat, off = Ticket)]
            #[update(crate)]
            struct Answered {
                #[update(too = question)]
                a: String,
                #[update(of = Ticket)]
                b: String,
                #[update(to = chat.log)]
                c: String,
                #[update(to = "chat")]
                d: String,
                #[update(to)]
                e: String,
                #[update(to = a, to = b)]
                f: String,
                #[update]
                g: String,
                #[update(skip_none)]
                h: String,
                #[update(flatten = true)]
                i: String,
                #[update(to = g)]
                j: String,
            }
        },
        &expect![[r#"
            `to` belongs on a field
            unknown attribute `off`, did you mean `of`?
            `crate` takes a path: `crate = some::path`
            unknown attribute `too`, did you mean `to`?
            `of` belongs on the struct
            `to` takes the name of a field of the state; for a field of a flattened state, write an update of that state in a field with `#[update(flatten)]`
            `to` takes the name of a field of the state; for a field of a flattened state, write an update of that state in a field with `#[update(flatten)]`
            `to` takes an expression: `to = value`
            duplicate `to`
            write `#[update(..)]`
            `skip_none` needs a field of the type `Option<..>`
            `flatten` takes no value
            missing state: write `#[update(of = State)]`
            `a` already writes the field `a` of the state: an update writes a field once
            `g` already writes the field `g` of the state: an update writes a field once
        "#]],
    );
}

#[test]
fn only_a_struct_with_named_fields_is_an_update() {
    for input in [
        parse_quote! { #[update(of = Ticket)] struct Answered(String); },
        parse_quote! { #[update(of = Ticket)] struct Answered; },
        parse_quote! { #[update(of = Ticket)] enum Answered { A } },
        parse_quote! { #[update(of = Ticket)] union Answered { a: u8 } },
    ] {
        check_mistakes(
            input,
            &expect![[r#"
                an update must be a struct with named fields
            "#]],
        );
    }
}
