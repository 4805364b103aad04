use serde_json::Value;

/// A path into a thread, such as `values.messages[-1].content`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ThreadPath(Vec<Part>);

#[derive(Debug, PartialEq, Eq)]
enum Part {
    Key(String),
    /// From the end if it is negative: -1 is the last item.
    Index(i64),
}

impl ThreadPath {
    /// Reads a path: keys with dots between them, and indices in brackets.
    ///
    /// # Errors
    /// The problem.
    pub(crate) fn parse(text: &str) -> Result<Self, &'static str> {
        let mut parts = Vec::new();
        for step in text.split('.') {
            let (key, indices) = step.split_at(step.find('[').unwrap_or(step.len()));
            if key.is_empty() {
                return Err("a key is empty");
            }
            parts.push(Part::Key(key.to_owned()));
            let mut rest = indices;
            while !rest.is_empty() {
                let inner = rest.strip_prefix('[').ok_or("expected `[` after `]`")?;
                let (index, after) = inner.split_once(']').ok_or("a bracket is not closed")?;
                parts.push(Part::Index(index.parse().map_err(|_| "an index is not an integer")?));
                rest = after;
            }
        }
        match parts.first() {
            Some(Part::Key(root))
                if matches!(
                    &**root,
                    "values"
                        | "metadata"
                        | "config"
                        | "context"
                        | "interrupts"
                        | "error"
                        | "status"
                        | "thread_id"
                        | "created_at"
                        | "updated_at"
                        | "state_updated_at"
                ) =>
            {
                Ok(Self(parts))
            }
            _ => Err("a path begins with a field of a thread, such as `values` or `metadata`"),
        }
    }

    /// Returns `true` if the path leads into a field of the thread.
    pub(crate) fn begins_with(&self, field: &str) -> bool {
        matches!(self.0.first(), Some(Part::Key(key)) if key == field)
    }

    /// Returns the value at the path, or null.
    pub(crate) fn find(&self, thread: &super::Object) -> Value {
        let mut parts = self.0.iter();
        let Some(Part::Key(root)) = parts.next() else { return Value::Null };
        let found = parts.try_fold(thread.get(root), |found, part| {
            let next = match (found?, part) {
                (Value::Object(object), Part::Key(key)) => object.get(key),
                (Value::Array(items), Part::Index(index)) => {
                    let place = if *index < 0 {
                        index.checked_add_unsigned(items.len() as u64)
                    } else {
                        Some(*index)
                    };
                    items.get(usize::try_from(place?).ok()?)
                }
                _ => None,
            };
            next.map(Some)
        });
        found.flatten().cloned().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(path: &str, expected: Value) {
        let thread =
            json!({ "values": { "messages": [{ "content": "a" }, { "content": "b" }], "n": [[1, 2]] } });
        let found = ThreadPath::parse(path).map(|path| path.find(thread.as_object().unwrap()));
        assert_eq!(found, Ok(expected), "{path}");
    }

    #[test]
    fn paths_find_values() {
        check("values.messages[-1].content", json!("b"));
        check("values.messages[0]", json!({ "content": "a" }));
        check("values.n[0][1]", json!(2));
        for missing in ["values.messages[2]", "values.messages[-3]", "values.n.x", "values.x.y", "metadata.a"]
        {
            check(missing, Value::Null);
        }
    }

    #[test]
    fn malformed_paths_are_refused() {
        for path in ["", "values.", "values[", "values[x]", "values[0]x", "secrets.a", "[0]"] {
            assert!(ThreadPath::parse(path).is_err(), "{path}");
        }
    }
}
