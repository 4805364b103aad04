//! A run as a stream of typed events: what nodes write, what they have to say meanwhile, the state after each superstep.
//!
//! Nobody listening costs nothing: a run that is awaited instead makes none of these events.

use serde::Serialize;
use superstep::state::Update as _;
use superstep::{Context, END, EventKind, GraphState, Result, START, StateGraph, StreamMode};

#[derive(GraphState, Clone, Debug)]
struct Draft {
    #[state(input)]
    topic: String,
    text: String,
    /// Never leaves the process: not in the events either, once they are serialized.
    #[state(exclude)]
    token: String,
}

/// Any serializable type can be sent; a listener gets it back by its type.
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
    let mut seen = Vec::new();
    while let Some(event) = events.next().await {
        let event = event?;
        println!("{}", serde_json::to_string(&event)?);
        assert!(!format!("{event:?}").contains("secret"));
        match &event.kind {
            EventKind::Custom { value, .. } => {
                seen.extend(value.get::<Word>().map(|Word(word)| format!("said {word}")));
            }
            EventKind::Update { node, update, .. } => {
                seen.extend(update.get(Draft::TEXT).map(|text| format!("{node} wrote {text}")));
            }
            EventKind::Done(outcome) => assert_eq!(outcome.state().token, "secret"),
            _ => {}
        }
    }
    assert_eq!(
        seen,
        [
            "said All",
            "said about",
            "said graphs",
            "write wrote All about graphs",
            "shout wrote ALL ABOUT GRAPHS"
        ]
    );
    Ok(())
}
