//! Shows long-term memory: a store of facts about a user, shared by all threads, with semantic search.
//! Run with `cargo run -p examples --bin 18_memory`.
//!
//! The facts of a user are items in the namespace `["users", name, "facts"]`. Nodes access the store with `cx.store()`. On another
//! thread, days later, a search finds the facts that fit the question.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use superstep::messages::{Message, Role};
use superstep::store::{Embed, EmbedFuture, Index, Items, LongTermStore, Namespace, gte};
use superstep::{Context, END, GraphState, Result, START, StateGraph};
use superstep_sqlite::SqliteCheckpointer;

#[derive(GraphState, Clone, Debug)]
struct Chat {
    #[state(input)]
    user: String,
    #[state(input, reducer = add_messages)]
    messages: Vec<Message>,
}

/// A statement of a user about themselves.
#[derive(Serialize, Deserialize, Debug)]
struct Fact {
    text: String,
    certainty: f32,
}

/// Returns the facts of a user. Segments are never joined, so a user called "ann.facts" is a different user.
fn facts(cx: &Context, user: &str) -> Result<Items<Fact>> {
    Ok(cx.store()?.of::<Fact>(["users", user, "facts"]))
}

async fn answer(chat: &Chat, cx: &Context) -> Result<ChatUpdate> {
    let question = chat.messages.last().map(Message::text).unwrap_or_default();
    let found =
        facts(cx, &chat.user)?.search().query(question).filter("certainty", gte(0.5)).limit(1).await?;
    let reply = match found.items.first() {
        Some(fact) if fact.score > Some(0.0) => format!("You told me: {}", fact.value.text),
        _ => "I know nothing about that yet.".to_owned(),
    };
    Ok(Chat::update().messages(Message::ai(reply)))
}

/// Stores each sentence about the user. The sentence is its own key, so a node that runs again stores no duplicates.
async fn remember(chat: &Chat, cx: &Context) -> Result<()> {
    let facts = facts(cx, &chat.user)?;
    for message in chat.messages.iter().filter(|message| message.role() == Role::Human) {
        let text = message.text();
        let sentences = text.split_inclusive(['.', '!', '?']).map(str::trim);
        for sentence in sentences.filter(|sentence| sentence.starts_with("I ")) {
            let certainty = if sentence.contains("maybe") { 0.2 } else { 1.0 };
            let fact = Fact { text: sentence.to_owned(), certainty };
            facts.put(sentence, &fact).ttl(Duration::from_secs(365 * 24 * 60 * 60)).await?;
        }
    }
    Ok(())
}

/// Simulates an embedding model: strings with the same topic have similar vectors.
struct Topics;

impl Embed for Topics {
    fn model(&self) -> &str {
        "topics-1"
    }

    fn embed(&self, texts: Vec<String>) -> EmbedFuture<'_, Vec<Vec<f32>>> {
        let topics = [&["eat", "meat", "dinner"][..], &["live", "city", "Ulm"], &["work", "job", "nurse"]];
        let count = move |text: &String| {
            topics.map(|words| words.iter().filter(|word| text.contains(**word)).count() as f32).to_vec()
        };
        Box::pin(async move { Ok(texts.iter().map(count).collect()) })
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let folder = tempfile::tempdir()?;
    // One file for both the checkpoints and the long-term store.
    let file = SqliteCheckpointer::open(folder.path().join("chats.db"))?;
    let memory = LongTermStore::new(file.store()).index(Index::new(Topics).fields(["text"]));

    let graph =
        StateGraph::<Chat>::new().edge(START, answer).edge(answer, remember).edge(remember, END).compile()?;
    let graph = graph.with_store(memory.clone()).with_checkpointer(file);

    let ask = async |thread: &str, user: &str, text: &str| -> Result<String> {
        let chat = graph.thread(thread).run(Chat::input(user).messages(text)).await?.into_state();
        let reply = chat.messages.last().map(|reply| reply.text().into_owned()).unwrap_or_default();
        println!("{thread:<8} {user}: {text}\n{:8} {reply}", "");
        Ok(reply)
    };

    ask("monday", "ann", "Hello! I eat no meat. I live in Ulm. I will maybe change my job.").await?;

    // Another thread: a new conversation, but the facts are known.
    assert_eq!(ask("friday", "ann", "What could I have for dinner?").await?, "You told me: I eat no meat.");
    assert_eq!(ask("friday", "ann", "In which city do I live?").await?, "You told me: I live in Ulm.");
    // The filter excludes uncertain facts.
    assert_eq!(ask("friday", "ann", "What is my job?").await?, "I know nothing about that yet.");
    assert_eq!(
        graph.thread("friday").state().await?.and_then(|head| head.state).map(|chat| chat.messages.len()),
        Some(6)
    );

    // Another user does not see Ann's facts.
    assert_eq!(
        ask("sunday", "bob", "What could I have for dinner?").await?,
        "I know nothing about that yet."
    );
    ask("sunday", "bob", "I work as a nurse.").await?;

    // Outside a run: list the users, and delete the facts of one.
    let users = memory.namespaces().within("users").max_depth(2).await?.items;
    assert_eq!(users, [Namespace::from(["users", "ann"]), Namespace::from(["users", "bob"])]);
    let all = memory.of::<Fact>(["users", "ann"]);
    for fact in all.search().await?.items {
        memory.of::<Fact>(&fact.namespace).delete(fact.item.key).await?;
    }
    assert_eq!(all.search().await?.items.len(), 0);
    Ok(())
}
