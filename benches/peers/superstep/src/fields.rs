//! A large state, of which one field is written.

/// Defines a state with these fields and `step`, and a graph that writes `step`.
macro_rules! large {
    ($($field:ident)*) => {
        use harness::{Bench, STEPS, TEXT};
        use superstep::{END, GraphState, Route, START, StateGraph};

        #[derive(GraphState, Clone)]
        struct Large {
            step: u64,
            $($field: String,)*
        }

        #[derive(Route)]
        enum Next {
            #[to(tick)]
            Again,
            #[to(END)]
            Enough,
        }

        async fn tick(large: &Large) -> (LargeUpdate, Next) {
            let next = if large.step + 1 < STEPS { Next::Again } else { Next::Enough };
            (Large::update().step(large.step + 1), next)
        }

        pub fn time(bench: &Bench) {
            let graph = StateGraph::<Large>::new().edge(START, tick).compile().expect("a loop");
            bench.time(
                move |_| std::future::ready((graph.clone(), Large::input()$(.$field(TEXT))*)),
                |(graph, input)| async move { graph.run(input).recursion_limit(STEPS + 1).await },
                |_, outcome| async move {
                    let large = outcome.expect("a run").into_state();
                    assert_eq!(large.step, STEPS);
                    $(assert_eq!(large.$field, TEXT);)*
                },
            );
        }
    };
}

mod sixty {
    harness::with_59_fields!(large);
}

mod hundred {
    harness::with_99_fields!(large);
}

pub use hundred::time as with_100;
pub use sixty::time as with_60;
