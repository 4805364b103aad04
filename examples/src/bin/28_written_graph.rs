//! `graph!`: the graph is the text of its picture, and rustc checks it.
//! Run with `cargo run -p examples --bin 28_written_graph`.

use superstep::{END, GraphState, Result, Route, graph};

#[derive(GraphState, Clone)]
struct Article {
    #[state(input)]
    title: String,
    #[state(reducer = append)]
    done: Vec<String>,
}

fn done(what: &str) -> ArticleUpdate {
    Article::update().done([what.to_owned()])
}

async fn write(article: &Article) -> ArticleUpdate {
    done(&format!("write {}", article.title))
}

async fn check_facts(_: &Article) -> ArticleUpdate {
    done("check facts")
}

async fn check_style(_: &Article) -> ArticleUpdate {
    done("check style")
}

#[derive(Route)]
enum Verdict {
    #[to(write)]
    Rework,
    #[to(publish)]
    Publish,
    #[to(END)]
    Discard,
}

async fn decide(article: &Article) -> Verdict {
    match article.done.len() {
        ..4 => Verdict::Rework,
        4..10 => Verdict::Publish,
        _ => Verdict::Discard,
    }
}

async fn publish(_: &Article) -> ArticleUpdate {
    done("publish")
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let graph = graph! {
        state Article;

        START -> write -> (check_facts, check_style);
        (check_facts, check_style) => decide -> { write | publish | END };
        publish -> END;
    };
    // Everything that is not the topology is a method of the builder.
    let graph = graph.interrupt_before(publish).compile()?;

    let outcome = graph.run(Article::input("Supersteps")).await?;
    let done = &outcome.state().done;
    assert!(done.join(", ").starts_with("write Supersteps, check facts, check style"));
    assert!(outcome.pause().is_some_and(|pause| pause.before() == ["publish"]));
    println!("before publishing: {}", done.join(", "));
    println!("{}", graph.to_mermaid());
    Ok(())
}
