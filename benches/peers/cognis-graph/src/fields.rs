//! A large state, of which one field is written.

/// Defines a state with these fields and `step`, and a graph that writes `step`.
macro_rules! large {
    ($($field:ident)*) => {
        use std::future::ready;
        use std::sync::Arc;

        use cognis_core::Runnable as _;
        use cognis_graph::{Goto, Graph, GraphState, NodeOut, node_fn};
        use harness::{Bench, STEPS, TEXT};

        use crate::config;

        #[derive(GraphState, Clone, Default)]
        struct Large {
            step: u64,
            $($field: String,)*
        }

        pub(crate) fn time(bench: &Bench) {
            let tick = node_fn("tick", |large: &Large, _| {
                let step = large.step + 1;
                async move {
                    let update = LargeUpdate { step: Some(step), ..LargeUpdate::default() };
                    let goto = if step < STEPS { Goto::node("tick") } else { Goto::end() };
                    Ok(NodeOut { update, goto })
                }
            });
            let graph = Graph::<Large>::new().node("tick", tick).start_at("tick").compile();
            let graph = Arc::new(graph.expect("a loop"));
            bench.time(
                move |_| {
                    ready((Arc::clone(&graph), Large { step: 0, $($field: TEXT.to_owned(),)* }))
                },
                |(graph, large)| async move { graph.invoke(large, config(STEPS)).await },
                |_, large| async move {
                    let large = large.expect("a run");
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

pub(crate) use hundred::time as with_100;
pub(crate) use sixty::time as with_60;
