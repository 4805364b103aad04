//! Shows streaming: a run as a stream of typed events, with the updates of nodes and custom events.
//! Run with `cargo run -p examples --bin 08_stream`.
//!
//! A run that is awaited instead creates no events.

use serde::Serialize;
use superstep::state::Update as _;
use superstep::{Context, END, EventKind, GraphState, Result, START, StateGraph, StreamMode};

#[derive(GraphState, Clone, Debug)]
struct Draft {
    #[state(input)]
    topic: String,
    text: String,
    /// Never leaves the process: serialized events do not contain it.
    #[state(exclude)]
    token: String,
}

/// A custom event. Any serializable type will do; the receiver gets it back by its type.
#[derive(Serialize)]
struct Word(String);

async fn write(draft: &Draft, cx: &Context) -> DraftUpdate {
    let mut text = String::new();
    for word in ["All", "about", &draft.topic] {
        cx.emit(Word(word.to_owned())).await;
        text = format!("{text} {word}");
    }
    Draft::update().text(text.trim()).token("secret")
}

async fn shout(draft: &Draft) -> DraftUpdate {
    Draft::update().text(draft.text.to_uppercase())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let graph =
        StateGraph::<Draft>::new().edge(START, write).edge(write, shout).edge(shout, END).compile()?;

    let mut events =
        graph.run(Draft::input("graphs")).events([StreamMode::Custom, StreamMode::Updates]).stream();
    let mut lines = Vec::new();
    while let Some(event) = events.next().await {
        let event = event?;
        println!("{}", serde_json::to_string(&event)?);
        assert!(!format!("{event:?}").contains("secret"));
        match &event.kind {
            EventKind::Custom { value, .. } => {
                lines.extend(value.get::<Word>().map(|Word(word)| format!("emitted {word}")));
            }
            EventKind::Update { node, update, .. } => {
                lines.extend(update.get(Draft::TEXT).map(|text| format!("{node} wrote {text}")));
            }
            EventKind::Done(outcome) => assert_eq!(outcome.state().token, "secret"),
            _ => {}
        }
    }
    assert_eq!(
        lines,
        [
            "emitted All",
            "emitted about",
            "emitted graphs",
            "write wrote All about graphs",
            "shout wrote ALL ABOUT GRAPHS"
        ]
    );
    Ok(())
}
