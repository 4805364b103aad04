//! Filters compare values exactly, and their operands are never executed.

use superstep_store::payload::{Encoding, Payload};
use superstep_store::store::{Condition, FieldPath, ItemWrite, Test};

use crate::Broken;
use crate::cases::names::names;
use crate::expect::{Expect as _, same};
use crate::store::case::Target;
use crate::store::fixture::{Fixture, at, put};

/// Returns the keys of the items whose field meets a comparison with a JSON operand.
async fn keys(
    fixture: &Fixture,
    path: impl Into<FieldPath>,
    test: Test,
    json: &str,
) -> Result<Vec<String>, Broken> {
    let conditions = vec![condition(path, test, json)?];
    fixture.keys(fixture.within("n").conditions(conditions)).await
}

fn condition(path: impl Into<FieldPath>, test: Test, json: &str) -> Result<Condition, Broken> {
    // `Value` cannot hold every integer.
    if let Ok(wide) = json.parse::<i128>() {
        return Condition::new(path, test, &wide).works("a number can be searched for");
    }
    let value: serde_json::Value = serde_json::from_str(json)
        .map_err(|error| Broken::new("the operand of the case is JSON", json, error.to_string()))?;
    Condition::new(path, test, &value).works("a value can be searched for")
}

/// Puts items with the values in field `f`. The key is the JSON of the value.
async fn prepare(target: Target<'_>, values: &[&str]) -> Result<Fixture, Broken> {
    let fixture = target.open().await?;
    let writes = values.iter().map(|value| put(&at("n", value), &format!("{{\"other\":0,\"f\":{value}}}")));
    fixture.write(writes.collect()).await?;
    Ok(fixture)
}

pub(crate) async fn filters_compare_types_strictly(target: Target<'_>) -> Result<(), Broken> {
    let values = [
        "1",
        "\"1\"",
        "true",
        "\"true\"",
        "null",
        "\"null\"",
        "[1]",
        "[]",
        "{\"a\":1}",
        "{}",
        "\"\"",
        "0",
        "false",
    ];
    let fixture = prepare(target, &values).await?;
    let mut sorted = values.map(str::to_owned);
    sorted.sort();
    for value in values {
        let found = keys(&fixture, "f", Test::Equal, value).await?;
        same(format!("{value} equals only itself"), vec![value.to_owned()], found)?;
        let others: Vec<_> = sorted.iter().filter(|other| **other != value).cloned().collect();
        let found = keys(&fixture, "f", Test::NotEqual, value).await?;
        same(format!("every other value differs from {value}"), others, found)?;
    }
    Ok(())
}

pub(crate) async fn numbers_are_compared_without_loss(target: Target<'_>) -> Result<(), Broken> {
    let values = [
        "1",
        "1.0",
        "1.5",
        "-1",
        "9007199254740993",
        "18446744073709551616",
        "18446744073709551617",
        "1e300",
    ];
    let fixture = prepare(target, &values).await?;
    for (test, operand, expected) in [
        (Test::Equal, "1", vec!["1", "1.0"]),
        (Test::Equal, "1.0", vec!["1", "1.0"]),
        (Test::Equal, "18446744073709551617", vec!["18446744073709551617"]),
        (Test::Greater, "18446744073709551616", vec!["18446744073709551617", "1e300"]),
        (Test::AtMost, "1", vec!["-1", "1", "1.0"]),
        (Test::Less, "1", vec!["-1"]),
        (
            Test::AtLeast,
            "9007199254740993",
            vec!["18446744073709551616", "18446744073709551617", "1e300", "9007199254740993"],
        ),
        (Test::Equal, "9007199254740992.0", vec![]),
    ] {
        let found = keys(&fixture, "f", test, operand).await?;
        let expected: Vec<_> = expected.into_iter().map(str::to_owned).collect();
        same(format!("numbers are compared exactly: {test:?} {operand}"), expected, found)?;
    }
    Ok(())
}

pub(crate) async fn null_is_not_a_missing_field(target: Target<'_>) -> Result<(), Broken> {
    let fixture = target.open().await?;
    for (key, value) in
        [("null", "{\"f\":null}"), ("missing", "{}"), ("no object", "[\"f\"]"), ("one", "{\"f\":1}")]
    {
        fixture.put(&at("n", key), value).await?;
    }
    for (test, operand, expected) in [
        (Test::Equal, "null", vec!["null"]),
        (Test::NotEqual, "null", vec!["missing", "no object", "one"]),
        (Test::NotEqual, "1", vec!["missing", "no object", "null"]),
        (Test::AtMost, "5", vec!["one"]),
    ] {
        let expected: Vec<_> = expected.into_iter().map(str::to_owned).collect();
        let found = keys(&fixture, "f", test, operand).await?;
        same(format!("a missing field only differs: {test:?} {operand}"), expected, found)?;
    }
    Ok(())
}

pub(crate) async fn ordering_requires_equal_types(target: Target<'_>) -> Result<(), Broken> {
    let fixture = prepare(target, &["5", "\"5\"", "\"abc\"", "\"\u{e9}\"", "true", "null", "[9]"]).await?;
    for (test, operand, expected) in [
        (Test::Greater, "4", vec!["5"]),
        (Test::AtLeast, "\"5\"", vec!["\"5\"", "\"abc\"", "\"\u{e9}\""]),
        (Test::Greater, "\"abc\"", vec!["\"\u{e9}\""]),
        (Test::Less, "\"abc\"", vec!["\"5\""]),
        (Test::AtMost, "1000", vec!["5"]),
    ] {
        let expected: Vec<_> = expected.into_iter().map(str::to_owned).collect();
        same(format!("{test:?} {operand}"), expected, keys(&fixture, "f", test, operand).await?)?;
    }
    Ok(())
}

pub(crate) async fn field_names_are_not_split(target: Target<'_>) -> Result<(), Broken> {
    let fixture = target.open().await?;
    for (key, value) in [
        ("nested", "{\"a\":{\"b\":1}}"),
        ("dotted", "{\"a.b\":1}"),
        ("dollar", "{\"$.a.b\":1}"),
        ("listed", "{\"a\":[{\"b\":1}]}"),
        ("root", "1"),
    ] {
        fixture.put(&at("n", key), value).await?;
    }
    let paths: [(&[&str], &str); 4] =
        [(&["a", "b"], "nested"), (&["a.b"], "dotted"), (&["$.a.b"], "dollar"), (&[], "root")];
    for (path, expected) in paths {
        let found = keys(&fixture, path.to_vec(), Test::Equal, "1").await?;
        same(format!("a path is a list of names: {path:?}"), vec![expected.to_owned()], found)?;
    }
    Ok(())
}

pub(crate) async fn item_must_meet_all_filters(target: Target<'_>) -> Result<(), Broken> {
    let fixture = prepare(target, &["1", "2", "3", "4"]).await?;
    let conditions = vec![
        condition("f", Test::Greater, "1")?,
        condition("f", Test::Less, "4")?,
        condition("other", Test::Equal, "0")?,
    ];
    let found = fixture.keys(fixture.within("n").conditions(conditions)).await?;
    same("an item must meet all filters", vec!["2".to_owned(), "3".to_owned()], found)
}

pub(crate) async fn filters_apply_before_paging(target: Target<'_>) -> Result<(), Broken> {
    let fixture = target.open().await?;
    for n in 0..40 {
        fixture.put(&at("n", &format!("{n:02}")), &format!("{{\"odd\":{}}}", n % 2 == 1)).await?;
    }
    for (offset, limit, expected, more) in [
        (0, 3, vec!["01", "03", "05"], true),
        (18, 3, vec!["37", "39"], false),
        (19, 1, vec!["39"], false),
        (20, 1, vec![], false),
    ] {
        let conditions = vec![condition("odd", Test::Equal, "true")?];
        let page =
            fixture.search(fixture.within("n").conditions(conditions).offset(offset).limit(limit)).await?;
        let found: Vec<_> = page.items.iter().map(|found| &*found.key).collect();
        same(
            format!("a page of {limit} matching items after {offset}"),
            (expected, more),
            (found, page.more),
        )?;
    }
    Ok(())
}

pub(crate) async fn bytes_have_no_fields(target: Target<'_>) -> Result<(), Broken> {
    let fixture = target.open().await?;
    let bytes = Payload::new(Encoding::Bytes, br#"{"f":1}"#.to_vec());
    fixture.write(vec![ItemWrite::put(at("n", "bytes"), bytes)]).await?;
    same("bytes have no fields", Vec::<String>::new(), keys(&fixture, "f", Test::Equal, "1").await?)?;
    same("bytes have no fields", vec!["bytes".to_owned()], keys(&fixture, "f", Test::NotEqual, "1").await?)
}

pub(crate) async fn filter_text_is_never_executed(target: Target<'_>) -> Result<(), Broken> {
    let fixture = target.open().await?;
    let mut writes = Vec::new();
    for (n, name) in names().iter().enumerate() {
        let value = serde_json::json!({ name: name });
        writes.push(put(&at("n", &n.to_string()), &value.to_string()));
    }
    fixture.write(writes).await?;
    for (n, name) in names().iter().enumerate() {
        let operand = serde_json::Value::from(name.as_str()).to_string();
        let found = keys(&fixture, name.as_str(), Test::Equal, &operand).await?;
        same(format!("a field may have any name and value: {name:?}"), vec![n.to_string()], found)?;
    }
    same("all items still exist", names().len(), fixture.keys(fixture.within("n")).await?.len())
}
