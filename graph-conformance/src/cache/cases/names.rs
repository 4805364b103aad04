//! Keys of results.

use crate::Broken;
use crate::cache::case::Target;
use crate::cache::fixture::{at, of, some};
use crate::expect::same;

pub(crate) async fn similar_keys_are_distinct(target: Target<'_>) -> Result<(), Broken> {
    let fixture = target.open().await?;
    let names = [
        at("a", "b", "c", "d"),
        at("ab", "", "c", "d"),
        at("", "ab", "c", "d"),
        at("a", "bc", "", "d"),
        at("a", "b", "", "cd"),
        at("a", "b", "cd", ""),
        at("A", "b", "c", "d"),
        at("a", "b", "c", "d "),
        at("a", "b", "c", "%"),
        at("a", "b", "c", "_"),
        at("a/b", "", "c", "d"),
        at("b", "a", "c", "d"),
        at("a", "b", "d", "d"),
    ];
    for (nth, at) in names.iter().enumerate() {
        fixture.put(at, &nth.to_string()).await?;
    }
    for (nth, at) in names.iter().enumerate() {
        same(format!("each key has its own result: {at:?}"), Some(nth.to_string()), fixture.get(at).await?)?;
    }
    Ok(())
}

pub(crate) async fn names_may_be_any_string(target: Target<'_>) -> Result<(), Broken> {
    let fixture = target.open().await?;
    let texts = ["", "\0", "a\0b", "a", "'; DROP TABLE x; --", "%", "\u{e9}", "e\u{301}", "\u{1f600}", "\n"];
    for (nth, text) in texts.iter().enumerate() {
        for (part, at) in
            [at(text, "n", "s", "k"), at("g", text, "s", "k"), at("g", "n", text, "k"), of(text)]
                .iter()
                .enumerate()
        {
            fixture.put(at, &format!("[{nth},{part}]")).await?;
        }
    }
    for (nth, text) in texts.iter().enumerate() {
        same("a key may be any string", Some(format!("[{nth},3]")), fixture.get(&of(text)).await?)?;
        let graph = at(text, "n", "s", "k");
        same("a graph name may be any string", Some(format!("[{nth},0]")), fixture.get(&graph).await?)?;
    }
    Ok(())
}

pub(crate) async fn long_keys_are_not_truncated(target: Target<'_>) -> Result<(), Broken> {
    let fixture = target.open().await?;
    let long = |last: char| of(&format!("{}{last}", "x".repeat(100_000)));
    fixture.put(&long('a'), "1").await?;
    fixture.put(&long('b'), "2").await?;
    same("long keys that differ at their end are distinct", some("1"), fixture.get(&long('a')).await?)?;
    same("long keys that differ at their end are distinct", None, fixture.get(&long('c')).await?)
}
