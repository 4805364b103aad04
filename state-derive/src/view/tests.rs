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
fn view_borrows_and_clones() {
    check(
        parse_quote! {
            #[view(of = Ticket)]
            pub(crate) struct Question<'a> {
                question: &'a str,
                answer: Option<&'a String>,
                confidence: f32,
                #[view(from = chat.log)]
                log: &'a [Message],
                r#type: &'static str,
            }
        },
        &expect![[r#"
            #[allow(unexpected_cfgs)]
            const _: () = {
                #[automatically_derived]
                impl<'a> Question<'a> {
                    ///The `Question` of a state, as nodes read it.
                    pub(crate) fn of(
                        #[cfg(not(any(doc, rust_analyzer)))]
                        __state: &'a Ticket,
                        #[cfg(any(doc, rust_analyzer))]
                        state: &'a Ticket,
                    ) -> Self {
                        #[cfg(any(doc, rust_analyzer))]
                        let __state = state;
                        let __field_0 = (&(*__state).question,);
                        let __field_1 = (&(*__state).answer,);
                        let __field_2 = (::core::clone::Clone::clone(&(*__state).confidence),);
                        let __field_3 = (&(*__state).chat.log,);
                        let __field_4 = (::core::clone::Clone::clone(&(*__state).r#type),);
                        Self {
                            question: __field_0.0,
                            answer: if let ::core::option::Option::Some(__inside) = __field_1.0 {
                                let __field_0 = (__inside,);
                                let __inside: &'a String = __field_0.0;
                                ::core::option::Option::Some(__inside)
                            } else {
                                ::core::option::Option::None
                            },
                            confidence: __field_2.0,
                            log: __field_3.0,
                            r#type: __field_4.0,
                        }
                    }
                }
                #[automatically_derived]
                impl<'a> ::superstep::__private::Param for Question<'a> {
                    type Fixed = ::superstep::__private::Viewed<Question<'static>>;
                }
                #[automatically_derived]
                impl ::superstep::__private::StateOrPacket for Question<'static> {
                    type Role = ::superstep::__private::IsView;
                }
                #[automatically_derived]
                impl ::superstep::__private::View for Question<'static> {
                    type Of = Ticket;
                    type At<'__a> = Question<'__a>;
                    fn view<'__a>(__state: &'__a Ticket) -> Question<'__a> {
                        Question::of(__state)
                    }
                }
            };
        "#]],
    );
}

#[test]
fn owned_view_of_a_generic_state_with_a_renamed_crate() {
    check(
        parse_quote! {
            #[view(of = Ticket<T, N>, crate = ::renamed)]
            struct Question<T: Clone, const N: usize = 3>
            where
                T: Default,
            {
                question: [T; N],
            }
        },
        &expect![[r#"
            #[allow(unexpected_cfgs)]
            const _: () = {
                #[automatically_derived]
                impl<T: Clone, const N: usize> Question<T, N>
                where
                    T: Default,
                    Ticket<T, N>: ::renamed::__private::GraphState,
                {
                    ///The `Question` of a state, as nodes read it.
                    fn of(
                        #[cfg(not(any(doc, rust_analyzer)))]
                        __state: &Ticket<T, N>,
                        #[cfg(any(doc, rust_analyzer))]
                        state: &Ticket<T, N>,
                    ) -> Self {
                        #[cfg(any(doc, rust_analyzer))]
                        let __state = state;
                        let __field_0 = (::core::clone::Clone::clone(&(*__state).question),);
                        Self { question: __field_0.0 }
                    }
                }
                #[automatically_derived]
                impl<T: Clone, const N: usize> ::renamed::__private::Param for Question<T, N>
                where
                    T: Default,
                    Ticket<T, N>: ::renamed::__private::GraphState,
                {
                    type Fixed = ::renamed::__private::Viewed<Question<T, N>>;
                }
                #[automatically_derived]
                impl<T: Clone, const N: usize> ::renamed::__private::StateOrPacket for Question<T, N>
                where
                    T: Default,
                    Ticket<T, N>: ::renamed::__private::GraphState,
                {
                    type Role = ::renamed::__private::IsView;
                }
                #[automatically_derived]
                impl<T: Clone, const N: usize> ::renamed::__private::View for Question<T, N>
                where
                    T: Default,
                    Ticket<T, N>: ::renamed::__private::GraphState,
                {
                    type Of = Ticket<T, N>;
                    type At<'__a> = Question<T, N>;
                    fn view<'__a>(__state: &'__a Ticket<T, N>) -> Question<T, N> {
                        Question::of(__state)
                    }
                }
            };
        "#]],
    );
}

#[test]
fn bounds_use_the_replaced_lifetime() {
    check(
        parse_quote! {
            #[view(of = Ticket<T>)]
            struct Question<'a, T: 'a + Show<'a>>
            where
                &'a T: Clone,
            {
                question: &'a T,
            }
        },
        &expect![[r#"
            #[allow(unexpected_cfgs)]
            const _: () = {
                #[automatically_derived]
                impl<'a, T: 'a + Show<'a>> Question<'a, T>
                where
                    &'a T: Clone,
                    Ticket<T>: ::superstep::__private::GraphState,
                {
                    ///The `Question` of a state, as nodes read it.
                    fn of(
                        #[cfg(not(any(doc, rust_analyzer)))]
                        __state: &'a Ticket<T>,
                        #[cfg(any(doc, rust_analyzer))]
                        state: &'a Ticket<T>,
                    ) -> Self {
                        #[cfg(any(doc, rust_analyzer))]
                        let __state = state;
                        let __field_0 = (&(*__state).question,);
                        Self { question: __field_0.0 }
                    }
                }
                #[automatically_derived]
                impl<'a, T: 'a + Show<'a>> ::superstep::__private::Param for Question<'a, T>
                where
                    &'a T: Clone,
                    Ticket<T>: ::superstep::__private::GraphState,
                {
                    type Fixed = ::superstep::__private::Viewed<Question<'static, T>>;
                }
                #[automatically_derived]
                impl<T: 'static + Show<'static>> ::superstep::__private::StateOrPacket
                for Question<'static, T>
                where
                    &'static T: Clone,
                    Ticket<T>: ::superstep::__private::GraphState,
                {
                    type Role = ::superstep::__private::IsView;
                }
                #[automatically_derived]
                impl<T: 'static + Show<'static>> ::superstep::__private::View
                for Question<'static, T>
                where
                    &'static T: Clone,
                    Ticket<T>: ::superstep::__private::GraphState,
                {
                    type Of = Ticket<T>;
                    type At<'__a> = Question<'__a, T>;
                    fn view<'__a>(__state: &'__a Ticket<T>) -> Question<'__a, T> {
                        Question::of(__state)
                    }
                }
            };
        "#]],
    );
}

#[test]
fn every_mistake_is_reported() {
    check_mistakes(
        parse_quote! {
            #[view(from = chat, off = Ticket)]
            #[view(crate)]
            struct Question<'a, 'b> {
                #[view(form = question)]
                a: &'a str,
                #[view(of = Ticket)]
                b: &'b str,
                #[view(from = chat.log())]
                c: &'a mut str,
                #[view(from = "chat")]
                d: Cow<'a, str>,
                #[view(from)]
                e: &'a &'a str,
                #[view(from = a, from = b)]
                f: &'a str,
                #[view]
                g: Vec<Option<&'a str>>,
            }
        },
        &expect![[r#"
            `from` belongs on a field: it names a field of the state
            unknown attribute `off`, did you mean `of`?
            `crate` takes a path: `crate = some::path`
            unknown attribute `form`, did you mean `from`?
            `of` belongs on the struct
            `from` takes a field of the state, or a nested one: `from = chat.log`
            `from` takes a field of the state, or a nested one: `from = chat.log`
            `from` takes an expression: `from = value`
            duplicate `from`
            write `#[view(..)]`
            missing state: write `#[view(of = State)]`
            a view can have only one lifetime parameter
            a view can borrow only as `&'a T` or `Option<&'a T>`: use one of these, or an owned type to clone the field
            a view can borrow only as `&'a T` or `Option<&'a T>`: use one of these, or an owned type to clone the field
            a view can borrow only as `&'a T` or `Option<&'a T>`: use one of these, or an owned type to clone the field
            a view can borrow only as `&'a T` or `Option<&'a T>`: use one of these, or an owned type to clone the field
        "#]],
    );
}

#[test]
fn only_a_struct_with_named_fields_is_a_view() {
    check_mistakes(
        parse_quote! { #[view(of = Ticket)] struct Question<'a>(&'a str); },
        &expect![[r#"
        a view must be a struct with named fields
    "#]],
    );
    check_mistakes(
        parse_quote! { #[view(of = Ticket)] struct Question; },
        &expect![[r#"
        a view must be a struct with named fields
    "#]],
    );
    check_mistakes(
        parse_quote! { #[view(of = Ticket)] enum Question { A } },
        &expect![[r#"
        a view must be a struct with named fields
    "#]],
    );
    check_mistakes(
        parse_quote! { #[view(of = Ticket)] union Question { a: u8 } },
        &expect![[r#"
        a view must be a struct with named fields
    "#]],
    );
}
