//! What is remembered of a user over all their threads: a long-term store, which nodes reach by `cx.store()`.
//!
//! What a user says of themselves is kept under `["users", name, "facts"]`. On another thread, days later, what has to do with
//! the question is found again by its meaning.

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

/// Something that a user has said of themselves.
#[derive(Serialize, Deserialize, Debug)]
struct Fact {
    text: String,
    certainty: f32,
}

/// What is known of a user. Segments are never joined: a user called "ann.facts" or "" is another one.
fn facts(cx: &Context, user: &str) -> Result<Items<Fact>> {
    Ok(cx.store()?.of::<Fact>(["users", user, "facts"]))
}

async fn answer(chat: &Chat, cx: &Context) -> Result<ChatUpdate> {
    let question = chat.messages.last().map(Message::text).unwrap_or_default();
    let known =
        facts(cx, &chat.user)?.search().query(question).filter("certainty", gte(0.5)).limit(1).await?;
    let reply = match known.items.first() {
        Some(fact) if fact.score > Some(0.0) => format!("You told me: {}", fact.value.text),
        _ => "I know nothing about that yet.".to_owned(),
    };
    Ok(Chat::update().messages(Message::ai(reply)))
}

/// Keeps every sentence about the user. A node that runs again puts it again: under the same key, so that nothing is doubled.
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

/// Stands for a model that embeds: texts are near to each other if they have to do with the same things.
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
    // One file for both: what belongs to a thread, and what belongs to all of them.
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

    // Another thread: its conversation begins anew, and what was said is known.
    assert_eq!(ask("friday", "ann", "What could I have for dinner?").await?, "You told me: I eat no meat.");
    assert_eq!(ask("friday", "ann", "In which city do I live?").await?, "You told me: I live in Ulm.");
    // It was not certain, and the filter leaves it out.
    assert_eq!(ask("friday", "ann", "What is my job?").await?, "I know nothing about that yet.");
    assert_eq!(
        graph.thread("friday").state().await?.and_then(|head| head.state).map(|chat| chat.messages.len()),
        Some(6)
    );

    // Another user: what Ann has said is nobody else's.
    assert_eq!(
        ask("sunday", "bob", "What could I have for dinner?").await?,
        "I know nothing about that yet."
    );
    ask("sunday", "bob", "I work as a nurse.").await?;

    // Outside of any run: who is known, and forgetting somebody.
    let users = memory.namespaces().within("users").max_depth(2).await?.items;
    assert_eq!(users, [Namespace::from(["users", "ann"]), Namespace::from(["users", "bob"])]);
    let all = memory.of::<Fact>(["users", "ann"]);
    for fact in all.search().await?.items {
        memory.of::<Fact>(&fact.namespace).delete(fact.item.key).await?;
    }
    assert_eq!(all.search().await?.items.len(), 0);
    Ok(())
}
