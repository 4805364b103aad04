//! Input, output and what is nobody else's business: "My name is Lance".
//!
//! One struct says it all. `input` fields are what a run needs, `output` fields what it gives back, the rest is private
//! to the nodes; and each node reads a view that shows it no more than it needs.

use superstep::{END, GraphState, Result, START, StateGraph, StateView};

#[derive(GraphState, Clone, Debug)]
struct Sentence {
    #[state(input)]
    user_input: String,
    foo: String,
    /// Not even in a dump.
    #[state(exclude)]
    bar: String,
    #[state(output)]
    graph_output: String,
}

#[derive(StateView)]
#[view(of = Sentence)]
struct Asked<'a> {
    user_input: &'a str,
}

#[derive(StateView)]
#[view(of = Sentence)]
struct Private<'a> {
    bar: &'a str,
}

async fn node_1(asked: Asked<'_>) -> SentenceUpdate {
    Sentence::update().foo(format!("{} name", asked.user_input))
}

async fn node_2(sentence: &Sentence) -> SentenceUpdate {
    Sentence::update().bar(format!("{} is", sentence.foo))
}

// A view may have been misspelt or mistyped, but not for long: it does not compile then.
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

    // `Sentence::input()` without the user's input does not compile.
    let outcome = graph.run(Sentence::input("My")).await?;
    assert_eq!(outcome.output().graph_output, "My name is Lance");
    println!("output: {}", outcome.output().graph_output);

    let dump = outcome.state().dump().to_string();
    assert_eq!(dump, r#"{"user_input":"My","foo":"My name","graph_output":"My name is Lance"}"#);
    println!("dump:   {dump}");
    Ok(())
}
