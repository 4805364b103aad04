//! Shows input, output and private fields of a state, and nodes that read only a part of it.
//! Run with `cargo run -p examples --bin 02_private`.
//!
//! A run requires the `input` fields and returns the `output` fields. All other fields are private to the nodes. A view gives a
//! node access to selected fields only.

use superstep::{END, GraphState, Result, START, StateGraph, StateView};

#[derive(GraphState, Clone, Debug)]
struct Sentence {
    #[state(input)]
    user_input: String,
    foo: String,
    /// Left out of the dump, too.
    #[state(exclude)]
    bar: String,
    #[state(output)]
    graph_output: String,
}

#[derive(StateView)]
#[view(of = Sentence)]
struct UserInput<'a> {
    user_input: &'a str,
}

#[derive(StateView)]
#[view(of = Sentence)]
struct Private<'a> {
    bar: &'a str,
}

async fn node_1(input: UserInput<'_>) -> SentenceUpdate {
    Sentence::update().foo(format!("{} name", input.user_input))
}

async fn node_2(sentence: &Sentence) -> SentenceUpdate {
    Sentence::update().bar(format!("{} is", sentence.foo))
}

// A view with an unknown field or a wrong type does not compile.
async fn node_3(private: Private<'_>) -> SentenceUpdate {
    Sentence::update().graph_output(format!("{} Lance", private.bar))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let graph = StateGraph::<Sentence>::new()
        .edge(START, node_1)
        .edge(node_1, node_2)
        .edge(node_2, node_3)
        .edge(node_3, END)
        .compile()?;

    // `Sentence::input()` without the required field does not compile.
    let outcome = graph.run(Sentence::input("My")).await?;
    assert_eq!(outcome.output().graph_output, "My name is Lance");
    println!("output: {}", outcome.output().graph_output);

    let dump = outcome.state().dump().to_string();
    assert_eq!(dump, r#"{"user_input":"My","foo":"My name","graph_output":"My name is Lance"}"#);
    println!("dump:   {dump}");
    Ok(())
}
