//! The checkpoints of a thread as a table, with their changes.

use std::collections::HashMap;
use std::fmt::Write as _;

use serde_json::Value;
use superstep::GraphState as _;
use superstep::thread::Snapshot;

use crate::inquiry::Inquiry;
use crate::threads::ending;

/// Returns the table, in the order of the snapshots: newest first.
pub(crate) fn table(history: &[Snapshot<Inquiry>]) -> Result<String, serde_json::Error> {
    let mut states = HashMap::new();
    for snapshot in history {
        let dump = snapshot.state.as_ref().map(|state| serde_json::to_value(state.dump())).transpose()?;
        states.insert(snapshot.id, dump.unwrap_or(Value::Null));
    }
    let mut rows = vec![["ID", "STEP", "SOURCE", "NEXT", "CHANGED"].map(str::to_owned)];
    for (index, snapshot) in history.iter().enumerate() {
        let before = snapshot.parent.and_then(|parent| states.get(&parent)).unwrap_or(&Value::Null);
        let now = states.get(&snapshot.id).unwrap_or(&Value::Null);
        let mut notes = changes(before, now);
        let previous = history.get(index + 1).map(|previous| previous.id);
        if let Some(parent) = snapshot.parent.filter(|parent| Some(*parent) != previous) {
            notes.push(format!("(branch of {})", ending(parent)));
        }
        for task in &snapshot.tasks {
            notes.extend(task.error.as_ref().map(|error| format!("({} failed: {})", task.node, error.text)));
            notes.extend(task.interrupts.iter().map(|open| format!("({} asks {})", open.node, open.name)));
        }
        rows.push([
            snapshot.id.to_string(),
            snapshot.step.to_string(),
            snapshot.source.name().to_owned(),
            planned(&snapshot.next),
            if notes.is_empty() { "-".to_owned() } else { notes.join(" ") },
        ]);
    }
    Ok(align(&rows))
}

/// Returns the planned nodes, such as `search ×2`, or `end` without any.
fn planned(next: &[impl AsRef<str>]) -> String {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for node in next.iter().map(AsRef::as_ref) {
        match counts.iter_mut().find(|(known, _)| *known == node) {
            Some((_, count)) => *count += 1,
            None => counts.push((node, 1)),
        }
    }
    let names: Vec<_> = counts
        .into_iter()
        .map(|(node, count)| if count == 1 { node.to_owned() } else { format!("{node} ×{count}") })
        .collect();
    if names.is_empty() { "end".to_owned() } else { names.join(", ") }
}

/// Returns the changed fields with their changes: `searches+2`, `weak=0`, `answer`.
fn changes(before: &Value, now: &Value) -> Vec<String> {
    let Some(fields) = now.as_object() else { return Vec::new() };
    let changes = fields.iter().filter_map(|(name, now)| {
        let before = before.get(name).unwrap_or(&Value::Null);
        match (before, now) {
            (before, now) if before == now => None,
            (Value::Null, Value::Array(now)) if now.is_empty() => None,
            (Value::Null, Value::Array(now)) => Some(format!("{name}+{}", now.len())),
            (Value::Array(before), Value::Array(now)) if now.starts_with(before) => {
                Some(format!("{name}+{}", now.len() - before.len()))
            }
            (_, Value::Array(now)) => Some(format!("{name}={}", now.len())),
            (_, Value::Null) => Some(format!("{name}=none")),
            _ => Some(name.clone()),
        }
    });
    changes.collect()
}

/// Pads the cells so that columns are aligned.
fn align<const N: usize>(rows: &[[String; N]]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..N).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            let _ = write!(line, "{cell:<width$}  ");
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(before: Value, now: Value, expected: &[&str]) {
        assert_eq!(changes(&before, &now), expected);
    }

    #[test]
    fn changes_are_listed_by_field() {
        check(Value::Null, json!({"a": "x", "list": [], "none": null}), &["a"]);
        check(json!({"list": [1]}), json!({"list": [1, 2, 3]}), &["list+2"]);
        check(json!({"list": [1, 2]}), json!({"list": []}), &["list=0"]);
        check(json!({"list": [1, 2]}), json!({"list": [2]}), &["list=1"]);
        check(json!({"a": 1, "b": 2}), json!({"a": 1, "b": null}), &["b=none"]);
        check(json!({"a": 1}), Value::Null, &[]);
    }

    #[test]
    fn repeated_planned_nodes_are_counted() {
        assert_eq!(planned(&["search", "search", "grade"]), "search ×2, grade");
        assert_eq!(planned(&[] as &[&str]), "end");
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [["a", "b"], ["long", "×2"]].map(|row| row.map(str::to_owned));
        assert_eq!(align(&rows), "a     b\nlong  ×2\n");
    }
}
