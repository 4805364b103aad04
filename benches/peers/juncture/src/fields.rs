//! A large state, of which one field is written.

/// Defines a state with these fields and `step`, and a graph that writes `step`.
macro_rules! large {
    ($($field:ident)*) => {
        #[derive(State, Clone, Debug, Default, Serialize, Deserialize)]
        struct Large {
            step: u64,
            $($field: String,)*
        }

        fn next(large: &Large) -> &str {
            if large.step < STEPS { "again" } else { "enough" }
        }

        pub(crate) fn with_60(bench: &Bench) {
            let mut graph = StateGraph::<Large>::new();
            let tick = NodeFnUpdate(|large: &Large| {
                let step = large.step + 1;
                async move { Ok(LargeUpdate { step: Some(step), ..LargeUpdate::default() }) }
            });
            graph.add_node_simple("tick", tick).expect("a node");
            graph.set_entry_point("tick");
            graph.add_conditional_edges("tick", Arc::new(next), again_or_end("tick"));
            let graph = Arc::new(graph.compile().expect("a loop"));
            bench.time(
                move |_| {
                    ready((Arc::clone(&graph), Large { step: 0, $($field: TEXT.to_owned(),)* }))
                },
                |(graph, large)| async move { graph.invoke_async(large, &config(STEPS)).await },
                |_, output| async move {
                    let large = output.expect("a run").value;
                    assert_eq!(large.step, STEPS);
                    $(assert_eq!(large.$field, TEXT);)*
                },
            );
        }
    };
}

use std::future::ready;
use std::sync::Arc;

use harness::{Bench, STEPS, TEXT};
use juncture::StateGraph;
use juncture::node::NodeFnUpdate;
use juncture_derive::State;
use serde::{Deserialize, Serialize};

use crate::{again_or_end, config};

harness::with_59_fields!(large);
