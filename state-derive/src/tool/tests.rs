use expect_test::{Expect, expect};
use proc_macro2::TokenStream;
use quote::quote;

use crate::snapshot::{mistakes, pretty};

fn check(function: TokenStream, expected: &Expect) {
    expected.assert_eq(&pretty(super::tool(TokenStream::new(), function).items));
}

fn check_mistakes(attributes: TokenStream, function: TokenStream, expected: &Expect) {
    expected.assert_eq(&mistakes(super::tool(attributes, function).items));
}

#[test]
fn tool_is_a_struct_with_the_function_as_method() {
    check(
        quote! {
            /// Adds.
            pub async fn add(/** The one. */ a: f64, #[serde(default)] b: f64, part: Part<'_>, cx: &Context) -> f64 {
                a + b
            }
        },
        &expect![[r#"
            /// Adds.
            #[allow(non_camel_case_types)]
            #[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug)]
            pub struct add {}
            ///The tool [`add`](struct@add).
            #[allow(dead_code)]
            pub fn add() -> add {
                add {}
            }
            impl add {
                /// Adds.
                pub async fn call(a: f64, b: f64, part: Part<'_>, cx: &Context) -> f64 {
                    a + b
                }
            }
            #[doc(hidden)]
            #[allow(
                dead_code,
                deprecated,
                missing_docs,
                non_camel_case_types,
                non_snake_case,
                non_upper_case_globals,
                unreachable_code,
                unreachable_pub,
                unused_variables,
                unused_qualifications,
                clippy::all,
                clippy::pedantic,
                clippy::nursery,
                clippy::restriction
            )]
            const _: () = {
                const __FITS_0: ::core::primitive::bool = {
                    let _ = <f64 as ::superstep_agent::__private::Argument>::FITS;
                    true
                };
                type __Argument_0 = <f64 as ::superstep_agent::__private::Checked<__FITS_0>>::Same;
                const __FITS_1: ::core::primitive::bool = {
                    let _ = <f64 as ::superstep_agent::__private::Argument>::FITS;
                    true
                };
                type __Argument_1 = <f64 as ::superstep_agent::__private::Checked<__FITS_1>>::Same;
                #[derive(
                    ::superstep_agent::__private::serde::Deserialize,
                    ::superstep_agent::__private::schemars::JsonSchema
                )]
                #[serde(crate = ":: superstep_agent :: __private :: serde", deny_unknown_fields)]
                #[schemars(crate = ":: superstep_agent :: __private :: schemars")]
                struct __Arguments {
                    /// The one.
                    a: __Argument_0,
                    #[serde(default)]
                    b: __Argument_1,
                }
                #[automatically_derived]
                impl<
                    S: ::superstep_agent::__private::GraphState,
                    D: ::core::marker::Send + ::core::marker::Sync + 'static,
                > ::superstep_agent::__private::Tool<S, D> for add
                where
                    <Part<
                        'static,
                    > as ::superstep_agent::__private::Param>::Fixed: for<'__b> ::superstep_agent::__private::Extract<
                        S,
                        D,
                        At<'__b> = Part<'__b>,
                    >,
                    <&'static Context as ::superstep_agent::__private::Param>::Fixed: for<'__b> ::superstep_agent::__private::Extract<
                        S,
                        D,
                        At<'__b> = &'__b Context,
                    >,
                    f64: ::superstep_agent::__private::IntoToolOutput<S>,
                {
                    fn spec(&self) -> ::superstep_agent::__private::ToolSpec {
                        ::superstep_agent::__private::ToolSpec::new(
                            "add",
                            "Adds.",
                            ::superstep_agent::__private::schema_of::<__Arguments>(),
                        )
                    }
                    fn call<'__a>(
                        &'__a self,
                        __turn: ::superstep_agent::__private::ToolInvocation<'__a, S, D>,
                    ) -> ::superstep_agent::__private::ToolFuture<'__a, S> {
                        ::superstep_agent::__private::Box::pin(async move {
                            let __arguments = ::superstep_agent::__private::read_arguments::<
                                __Arguments,
                            >("add", ::core::clone::Clone::clone(&__turn.call.args))?;
                            ::superstep_agent::__private::IntoToolOutput::into_tool_output(
                                add::call(
                                        __arguments.a,
                                        __arguments.b,
                                        ::superstep_agent::__private::provided::<
                                            Part<'static>,
                                            S,
                                            D,
                                        >(__turn)?,
                                        ::superstep_agent::__private::provided::<
                                            &'static Context,
                                            S,
                                            D,
                                        >(__turn)?,
                                    )
                                    .await,
                            )
                        })
                    }
                }
            };
        "#]],
    );
}

#[test]
fn every_mistake_is_reported_at_once() {
    check_mistakes(
        quote!(nam = "x", name = 3),
        quote! {
            fn bad<T>(&self, name: &str, list: &[u8], (a, b): (u8, u8), #[tool(al)] c: u8, d: &mut Chat) -> impl Copy {}
        },
        &expect![[r#"
            unknown attribute `nam`, did you mean `name`?
            `name` takes a string: `name = ".."`
            unknown attribute `al`, did you mean `all`?
            a tool must be an async function: write `async fn`
            a tool cannot have generic parameters
            a tool cannot be a method: take shared values from the context, `&ContextWith<_>`
            a tool needs a concrete return type: a string, a number, JSON, `ToolReply` or a `Result` of these
            a tool needs a description for the model: write a doc comment
            an argument must be owned: write `String`
            an argument must be owned: write `Vec<u8>`
            an argument needs a name, not a pattern
            a tool cannot change the state in place: return an update
        "#]],
    );
    check_mistakes(
        TokenStream::new(),
        quote! {
            /// Has too many.
            async fn bad(#[tool(all)] one: One, #[tool(all)] two: Two, three: u8, four: impl Copy) {}
        },
        &expect![[r#"
            only one parameter can have `#[tool(all)]`
            another parameter already takes all arguments: `#[tool(all)]`
            another parameter already takes all arguments: `#[tool(all)]`
        "#]],
    );
}
