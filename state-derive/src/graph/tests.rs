use std::time::{Duration, Instant};

use expect_test::{Expect, expect};
use proc_macro2::TokenStream;
use quote::quote;

fn check(text: TokenStream, expected: &Expect) {
    let emitted = super::graph(quote!(::superstep; state Ticket; #text));
    let file = syn::parse_quote!(fn graph() #emitted);
    expected.assert_eq(&prettyplease::unparse(&file));
}

/// Returns the messages of the mistakes, one per line.
fn mistakes(text: TokenStream) -> String {
    let emitted = super::graph(quote!(::superstep; #text)).to_string();
    let messages = emitted.split("compile_error ! { \"").skip(1);
    let messages = messages.filter_map(|rest| rest.split_once("\" }").map(|(message, _)| message));
    messages.collect::<Vec<_>>().join("\n")
}

#[test]
fn text_becomes_checks_and_calls() {
    check(
        quote! {
            START -> (a, &bot) => gather::<T> -> review -> { c | END };
            c -> { a | &bot } by choose;
            &self.held;
        },
        &expect![[r#"
            fn graph() {
                use ::superstep as __superstep;
                const _: () = __superstep::graph::text::by_edges(
                    &__superstep::graph::text::known(a),
                    "a",
                );
                const {
                    __superstep::graph::text::by_edges(
                        &__superstep::graph::text::known(gather::<T>),
                        "gather",
                    )
                };
                const _: () = __superstep::graph::text::by_route(
                    &__superstep::graph::text::known(review),
                    "review",
                    &["c", "END"],
                    false,
                );
                const _: () = __superstep::graph::text::leads_to(
                    &__superstep::graph::text::known(review),
                    "review",
                    "c",
                );
                const _: () = __superstep::graph::text::leads_to(
                    &__superstep::graph::text::known(review),
                    "review",
                    "END",
                );
                const _: () = __superstep::graph::text::before_function(
                    &__superstep::graph::text::known(c),
                    "c",
                );
                const _: () = __superstep::graph::text::by_function(
                    &__superstep::graph::text::decided(choose),
                    "choose",
                    &["a"],
                    true,
                );
                const _: () = __superstep::graph::text::function_leads_to(
                    &__superstep::graph::text::decided(choose),
                    "choose",
                    "a",
                );
                __superstep::StateGraph::<Ticket>::new()
                    .edge(__superstep::START, (__superstep::graph::text::known(a).node, &bot))
                    .join(
                        (__superstep::graph::text::known(a).node, &bot),
                        __superstep::graph::text::known(gather::<T>).node,
                    )
                    .edge(
                        __superstep::graph::text::known(gather::<T>).node,
                        __superstep::graph::text::known(review).node,
                    )
                    .node(__superstep::graph::text::known(review).node)
                    .route(
                        __superstep::graph::text::known(c).node,
                        __superstep::graph::text::decided(choose).decide,
                    )
                    .node(&self.held)
            }
        "#]],
    );
}

#[test]
fn every_mistake_is_reported() {
    let text = quote! {
        state Ticket;
        START -> a -> { b | END };
        a -> c;
        d -> END -> e;
        (b, f) => g;
        (b, h) => i -> h;
    };
    expect![[r#"
        `a` has both edges and a route: keep one of them; a route can lead to several nodes
        nothing follows END
        this join never fills: it waits for a node that only runs after it: `h`
        no way leads on from `c`: write `c -> END;`, or the targets of its route, `c -> { .. };`
        no way leads to `d`: write an arrow to it, or `d;` if it is entered in a way that the text does not show
        no way leads to `f`: write an arrow to it, or `f;` if it is entered in a way that the text does not show
        no way leads on from `g`: write `g -> END;`, or the targets of its route, `g -> { .. };`"#]].assert_eq(&mistakes(text));
}

#[test]
fn statements_are_read_after_a_broken_one() {
    let text = quote! {
        state Ticket;
        START -> "a";
        b() -> END;
        ;
        a -> {};
        a -> { b } with c;
        a -> b c;
        a => ?;
        () -> a;
        bot.inner -> a;
    };
    expect![[r#"
        a node is a function or `&value`, not its name
        name the function, without calling it
        nothing stands before this `;`
        a route needs targets: `{ a | END }`
        expected `by` and a function that decides, or `;`
        expected `->` for an edge, `=>` for a join, or `;`
        unexpected end of input, expected identifier
        expected nodes: `(a, b)`
        a value stands behind `&`: `&bot`, or `&self.bot`"#]]
    .assert_eq(&mistakes(text));
}

#[test]
fn nodes_that_run_together_are_compared() {
    let text = quote!(::superstep; state Ticket; START -> (a, b, c); a -> d; b -> d; c -> &v; d -> END; &v -> END; defer c;);
    let emitted = super::graph(text).to_string();
    let groups: Vec<_> =
        emitted.split("const __").skip(1).map(|rest| rest.split_once(';').unwrap().0).collect();
    expect![[r#"
        TOGETHER_0 : & [__superstep :: graph :: text :: Writer] = & [__superstep :: graph :: text :: Writer :: of (& __superstep :: graph :: text :: known (a) , "a") , __superstep :: graph :: text :: Writer :: of (& __superstep :: graph :: text :: known (b) , "b")] 
        BESIDE_0 : & [__superstep :: graph :: text :: Writer] = & [] "#]]
    .assert_eq(&groups.join("\n"));
    assert!(emitted.contains(". defer (__superstep :: graph :: text :: known (c) . node)"), "{emitted}");
}

#[test]
fn nodes_beside_others_may_overwrite_their_fields() {
    // Returns the nodes that may run in the superstep of `a` and `b`.
    let beside = |text: TokenStream| {
        let emitted = super::graph(quote!(::superstep; state Ticket; #text a -> END; b -> END;)).to_string();
        let mut groups = emitted.split("const __TOGETHER_").skip(1);
        let group = groups.find(|group| group.contains("known (a)")).unwrap();
        let list = group.split("const __BESIDE_").nth(1).unwrap().split(';').next().unwrap();
        let known = list.split('"').skip(1).step_by(2).map(str::to_owned);
        let unknown = list.matches("UNKNOWN").map(str::to_owned);
        known.chain(unknown).collect::<Vec<_>>().join(" ")
    };
    for (text, expected) in [
        (quote!(START -> y -> x -> (a, b);), ""),
        (quote!(START -> (a, b, &v); &v -> y -> END;), "UNKNOWN"),
        (quote!(START -> (x, y); x -> (a, b); y -> z -> END;), "z"),
        (quote!(START -> (a, b, &v); &v -> END;), "UNKNOWN"),
        (quote!(START -> (a, b); x; y;), "x y"),
        (quote!(START -> x -> { z | y } by choose; y -> (a, b); z -> c -> END;), "c"),
        (quote!(START -> (x, y); (x, y) => (a, b); y -> c -> END;), "c"),
    ] {
        let shown = text.to_string();
        assert_eq!(beside(text), expected, "{shown}");
    }
}

#[test]
fn head_is_needed() {
    expect!["a graph begins with the type of its state: `state Ticket;`"]
        .assert_eq(&mistakes(quote!(START -> a;)));
    expect!["unexpected end of input, a graph begins with the type of its state: `state Ticket;`"]
        .assert_eq(&mistakes(quote!()));
    expect!["expected `;`"].assert_eq(&mistakes(quote!(state Ticket)));
}

/// A graph of twice the length takes about twice the time, also if every edge stands before the node that it needs.
///
/// The machine may be busy with other work: the least times of many rounds count, and the rounds end when they are good enough.
#[test]
fn checks_cost_in_proportion_to_the_text() {
    let text = |count: usize| {
        let nodes: Vec<_> = (0..count).map(|nth| quote::format_ident!("node_{nth}")).collect();
        let edges = nodes.iter().zip(nodes.iter().skip(1)).rev().map(|(from, to)| quote!(#from -> #to;));
        let (first, last) = (nodes.first(), nodes.last());
        quote!(::superstep; state Ticket; #(#edges)* START -> #first; #last -> END;)
    };
    let time = |text: &TokenStream| {
        let (text, start) = (text.clone(), Instant::now());
        std::hint::black_box(super::graph(text));
        start.elapsed()
    };
    let (one, two) = (text(500), text(1_000));
    let (mut least_one, mut least_two) = (Duration::MAX, Duration::MAX);
    for round in 0..50 {
        least_one = least_one.min(time(&one));
        least_two = least_two.min(time(&two));
        if round >= 4 && least_two < 3 * least_one {
            return;
        }
    }
    panic!("{least_two:?} for twice the text, {least_one:?} for the text");
}
