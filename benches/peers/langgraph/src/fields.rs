//! A large state, of which one field is written.

/// Defines a state with these fields and `step`, and a graph that writes `step`.
macro_rules! large {
    ($($field:ident)*) => {
        use std::future::ready;
        use std::sync::Arc;

        use harness::{Bench, STEPS, TEXT};
        use langgraph::checkpoint::config::RunnableConfigExt as _;
        use langgraph::langgraph_state;
        use langgraph::prelude::{RoutingFn, Runnable as _, RunnableConfig, START, StateGraph};
        use serde_json::{Value, json};

        use crate::{again_if, again_or_end};

        #[langgraph_state]
        struct Large {
            step: u64,
            $($field: String,)*
        }

        async fn tick(state: Value, _: RunnableConfig) -> crate::Output {
            Ok(json!({ "step": state["step"].as_u64().unwrap_or(0) + 1 }))
        }

        pub(crate) fn time(bench: &Bench) {
            let mut graph = StateGraph::new(Large::create_channels());
            graph.add_node("tick", tick).expect("a node");
            graph.add_edge(START, "tick").expect("an edge");
            let route =
                RoutingFn(|update: &Value| again_if(update["step"].as_u64() < Some(STEPS)));
            graph.add_conditional_edges("tick", route, again_or_end("tick")).expect("a route");
            let graph = Arc::new(graph.compile().expect("a loop"));
            let input = json!(Large { step: 0, $($field: TEXT.to_owned(),)* });
            bench.time(
                move |_| ready((Arc::clone(&graph), input.clone())),
                |(graph, input)| async move {
                    let config = RunnableConfig::new().with_recursion_limit(STEPS + 1);
                    graph.ainvoke(&input, &config).await
                },
                |_, state| async move {
                    let large: Large = serde_json::from_value(state.expect("a run")).expect("a state");
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
