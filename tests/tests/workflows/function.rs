//! The parameters and results of a workflow's function.

use superstep::workflow::{Final, Flow, Workflow};
use superstep::{Context, ContextWith, ErrorKind, Graph, NodeError, Result, named};

async fn shout(text: &str) -> Result<String> {
    Ok(text.to_uppercase())
}

async fn join(words: &[String], previous: Option<&str>) -> Result<String> {
    Ok(previous.into_iter().chain(words.iter().map(String::as_str)).collect::<Vec<_>>().join(" "))
}

async fn nothing() -> Result<()> {
    Ok(())
}

async fn in_any_order(
    cx: &Context,
    previous: Option<&u32>,
    number: &u32,
) -> Result<Final<String, u32>, std::io::Error> {
    Ok(Final { value: format!("{} {number} {previous:?}", cx.node()), save: *number })
}

async fn with_a_context(model: &ContextWith<u32>, number: &u32, previous: Option<&u32>) -> Result<u32> {
    Ok(model.context() + number + previous.copied().unwrap_or_default())
}

async fn only_its_context(model: &ContextWith<u32>) -> Result<u32> {
    Ok(*model.context())
}

async fn fails(text: &str) -> Result<u32, std::num::ParseIntError> {
    text.parse()
}

#[tokio::test]
async fn function_accepts_every_parameter_form() -> Result<()> {
    // The type that a user would store the graph as.
    let shouts: Graph<Flow<String, String>> = Workflow::new(shout).compile()?;
    assert_eq!(shouts.run("hey".to_owned()).await?.value()?, "HEY");
    assert_eq!(shouts.run("hey").await?.value()?, "HEY");
    assert_eq!(
        Workflow::new(join).compile()?.run(vec!["a".to_owned(), "b".to_owned()]).await?.value()?,
        "a b"
    );
    Workflow::new(nothing).compile()?.run(()).await?.value()?;
    assert_eq!(Workflow::new(in_any_order).compile()?.run(3).await?.value()?, "in_any_order 3 None");
    assert_eq!(Workflow::with_context(with_a_context).compile()?.run(3).context(4).await?.value()?, 7);
    assert_eq!(Workflow::with_context(only_its_context).compile()?.run(()).context(4).await?.value()?, 4);
    Ok(())
}

#[tokio::test]
async fn workflow_is_named_after_its_function_by_default() -> Result<()> {
    let graph = Workflow::new(shout).compile()?;
    assert_eq!((graph.name(), graph.nodes().collect::<Vec<_>>()), ("shout", vec!["shout"]));
    let graph = Workflow::new(named("loud", shout)).name("letters").alias("shout").compile()?;
    assert_eq!((graph.name(), graph.nodes().collect::<Vec<_>>()), ("letters", vec!["loud"]));
    assert_eq!(graph.node("shout"), Some("loud"));
    Ok(())
}

#[tokio::test]
async fn failure_carries_the_error_of_the_function() {
    let error = Workflow::new(fails).compile().unwrap().run("seven").await.unwrap_err();
    let ErrorKind::Node { first: failure, .. } = error.kind() else { panic!("{error}") };
    assert_eq!(failure.node, "fails");
    assert!(failure.error.downcast_ref::<std::num::ParseIntError>().is_some());
}

#[test]
fn closure_needs_a_name() {
    let error = Workflow::new(async |number: &u32| Ok::<_, NodeError>(number + 1)).compile().unwrap_err();
    assert!(error.to_string().contains("named("), "{error}");
    assert!(
        Workflow::new(named("next", async |number: &u32| Ok::<_, NodeError>(number + 1))).compile().is_ok()
    );
}

#[tokio::test]
async fn input_parses_from_json_and_dump_has_the_result() -> Result<()> {
    let graph = Workflow::new(shout).compile()?;
    let input = graph.parse_input(serde_json::json!({ "input": "hey" }))?;
    let ended = graph.run(input).await?;
    let dump = serde_json::to_value(superstep::GraphState::dump(ended.state()))?;
    assert_eq!(dump, serde_json::json!({ "input": "hey", "value": "HEY", "saved": null }));
    let error = graph.parse_input(serde_json::json!({ "input": 3, "value": "x" })).unwrap_err();
    let error = format!("{error:?}");
    assert!(error.contains("$.input: ") && error.contains("$.value: unknown field"), "{error}");
    Ok(())
}
