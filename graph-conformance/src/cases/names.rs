//! Names may be any string, and different strings are different names.

use superstep_store::Metadata;
use superstep_store::checkpoint::RecordKind::Step;
use superstep_store::checkpoint::{ChangeKind, FieldChange, ThreadQuery};
use superstep_store::payload::Payload;

use crate::Broken;
use crate::case::Target;
use crate::expect::{Expect as _, same};
use crate::shorthand::{key, record};
use crate::thread_contents::{ids, query};
use crate::writer::{Writer, checkpoint_write, run};

/// Returns strings that are often handled wrongly, many of them similar to each other.
pub(crate) fn names() -> Vec<String> {
    let short = [
        "",
        " ",
        "  ",
        "a",
        "A",
        "a ",
        " a",
        "a b",
        "a.b",
        "a/b",
        "../a",
        "a\\b",
        "a:b",
        "a|b",
        "a,b",
        "0",
        "00",
        "1.0",
        "null",
        "NULL",
        "true",
        "'",
        "''",
        "\"",
        "`",
        "'; drop table thread; --",
        "%",
        "%%",
        "a%",
        "_",
        "__",
        "a_",
        "?",
        "?1",
        ":a",
        "$a",
        "@a",
        "*",
        "[a]",
        "{a}",
        "{}",
        "\n",
        "\r\n",
        "\t",
        "\0",
        "a\0",
        "a\0b",
        "\u{1}",
        "\u{7f}",
        "\u{feff}a",
        "e\u{301}",
        "\u{e9}",
        "\u{c9}",
        "\u{df}",
        "SS",
        "\u{130}",
        "i",
        "I",
        "\u{65e5}\u{672c}",
        "\u{1F980}",
        "\u{202e}a",
        "\u{10ffff}",
        "--",
        "/*",
        "__start__",
        "child:0|child:1",
    ];
    let mut names: Vec<_> = short.into_iter().map(str::to_owned).collect();
    names.push("x".repeat(5000));
    names.push("x".repeat(5001));
    names
}

pub(crate) async fn thread_may_have_any_name(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    for name in names() {
        let mut writer = Writer::new(&store, &name);
        writer.add(&format!("a={}", name.len())).await?;
    }
    for name in names() {
        let loaded = store.get(&name, "", None).await.works("a thread of any name can be read")?;
        let fields = loaded.found.as_ref().map(crate::shorthand::format_fields);
        same(format!("a thread is found by its name: {name:?}"), Some(format!("a={}", name.len())), fields)?;
        same(
            "each thread has its own origin",
            Some(format!("origin of {name}")),
            loaded.origin.map(|text| text.to_string()),
        )?;
        same("each thread has its own list", 1, ids(&*store, query(&name, "")).await?.len())?;
    }
    let page = store.threads(ThreadQuery::default()).await.works("threads can be listed")?;
    let mut sorted = names();
    sorted.sort();
    let listed: Vec<String> = page.items.iter().map(|thread| thread.thread.to_string()).collect();
    if !page.more {
        same("threads are listed in byte order", sorted, listed)?;
    }
    for name in names() {
        same(
            format!("a thread is deleted by its name: {name:?}"),
            true,
            store.delete(&name, None).await.works("deleting works")?,
        )?;
        let again = store.delete(&name, None).await.works("deleting works")?;
        same("a deletion affects one thread only", false, again)?;
    }
    Ok(())
}

pub(crate) async fn namespace_may_have_any_name(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let outer = Writer::new(&store, "t");
    let mut heads = Vec::new();
    for name in names() {
        let mut inner = outer.in_namespace(&name);
        heads.push(inner.add(&format!("a={}", name.len())).await?);
    }
    for (name, head) in names().iter().zip(heads) {
        let inner = outer.in_namespace(name);
        inner
            .expect_fields(
                head,
                &format!("a={}", name.len()),
                &format!("a namespace is found by its name: {name:?}"),
            )
            .await?;
        same("a namespace has its own list", vec![head], ids(&*store, query("t", name)).await?)?;
    }
    Ok(())
}

pub(crate) async fn fields_and_records_may_have_any_name(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    let change =
        |name: &String, kind| FieldChange::new(name.clone(), kind, Payload::json(format!("{name:?}")));
    let mut new = writer.draft("");
    new.changes = names().iter().map(|name| change(name, ChangeKind::Value)).collect();
    new.records = names().iter().map(|name| record(key(0, Step, name), name)).collect();
    writer.add_draft(new).await?;
    let mut new = writer.draft("");
    new.changes = names().iter().map(|name| change(name, ChangeKind::Delta)).collect();
    let id = writer.add_draft(new).await?;
    let put = names().iter().map(|name| record(key(1, Step, name), name)).collect();
    writer.write_records(id, names().iter().map(|name| key(0, Step, name)).collect(), put).await?;

    let found = writer.read(id).await?;
    let mut fields = found.fields;
    fields.sort_by(|a, b| a.field.cmp(&b.field));
    let mut sorted = names();
    sorted.sort();
    same(
        "fields may have any name",
        sorted.clone(),
        fields.iter().map(|field| field.field.clone()).collect(),
    )?;
    for field in &fields {
        let expected = format!("{:?}", field.field);
        let changes: Vec<_> =
            field.changes.iter().map(|change| crate::shorthand::payload_text(&change.payload)).collect();
        same("each field has its own changes", vec![expected.clone(), expected], changes)?;
    }
    let expected: Vec<_> = sorted.iter().map(|name| record(key(1, Step, name), name)).collect();
    same("records may have any key", expected, found.records)
}

pub(crate) async fn runs_and_nodes_may_have_any_name(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    let mut expected = Vec::new();
    for name in names() {
        writer.run = run(&name, Metadata::new());
        writer.next = vec![name.as_str().into(), "b".into()];
        let new = writer.draft("a=1");
        expected.push(new.checkpoint.clone());
        writer.commit(writer.batch(vec![checkpoint_write(new)])).await.works("a run may have any id")?;
    }
    for checkpoint in &expected {
        let found = writer.read(checkpoint.id).await?.checkpoint;
        same("the run and the nodes read back unchanged", checkpoint, &found)?;
        let mut by_run = query("t", "");
        by_run.run = Some(checkpoint.run.id.clone());
        let promise = format!("a run is found by its id: {:?}", checkpoint.run.id);
        same(promise, vec![checkpoint.id], ids(&*store, by_run).await?)?;
    }
    Ok(())
}

pub(crate) async fn metadata_may_have_any_key(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    let metadata = names().into_iter().map(|name| (name.clone(), name.into())).collect();
    writer.run = run("run", metadata);
    let id = writer.add("a=1").await?;
    same("metadata read back unchanged", &writer.run, &writer.read(id).await?.checkpoint.run)?;
    for name in names() {
        let mut by_key = query("t", "");
        by_key.metadata.insert(name.clone(), name.clone().into());
        let found = ids(&*store, by_key.clone()).await?;
        same(format!("metadata are found by key and value: {name:?}"), vec![id], found)?;
        by_key.metadata.insert(name.clone(), format!("{name}x").into());
        same(
            format!("metadata are not found by another value: {name:?}"),
            0,
            ids(&*store, by_key).await?.len(),
        )?;
    }
    Ok(())
}
