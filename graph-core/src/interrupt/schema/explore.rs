//! The JSON Schema of a type, found by deserializing samples.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::hint::{Hint, Turn};
use super::probe::{Mode, Probe, Run, Sample, struct_key};
use super::stop::{Reason, Stop, StructKey};

/// The number of samples after which everything that is left counts as unconstrained.
const MOST_RUNS: usize = 1_500;
/// The depths after which everything counts as unconstrained, because types may contain themselves. A smaller one is
/// tried if the type has too many parts, or its schema, which is stored with each open question, is too long.
const DEPTHS: [usize; 4] = [7, 4, 2, 1];
/// The greatest length of a schema, in bytes of JSON.
const LONGEST: usize = 8 * 1024;
/// The largest number of fields, variants or items that are looked at one by one.
pub(super) const MOST_PARTS: usize = 64;
/// The different fillings of parts that are not looked at.
pub(super) const LEVELS: usize = 2;
/// A name that no field and no variant has.
pub(super) const UNKNOWN: &str = "\u{1}";

/// Explores a type.
pub(super) struct Explorer {
    deserialize: Deserialize,
    runs: Cell<usize>,
    deepest: Cell<usize>,
    learned: RefCell<HashMap<StructKey, Vec<&'static str>>>,
}

/// Deserializes a value of the type, and drops it.
pub(super) type Deserialize = fn(Probe<'_>) -> Result<(), Stop>;

pub(super) fn deserialize<A: DeserializeOwned>(probe: Probe<'_>) -> Result<(), Stop> {
    A::deserialize(probe).map(drop)
}

/// The observations of one run.
pub(super) struct Seen {
    found: Option<Hint>,
    pub(super) reply: Option<Result<(), Stop>>,
    taken: usize,
    named_key: bool,
    pub(super) variants: usize,
}

impl Explorer {
    pub(super) fn of(deserialize: Deserialize) -> Self {
        Self { deserialize, runs: Cell::new(0), deepest: Cell::new(0), learned: RefCell::default() }
    }

    /// Returns the schema of the type; `true` if nothing is known.
    pub(super) fn schema(&self) -> Value {
        let of_depth = |depth| {
            self.runs.set(0);
            self.deepest.set(depth);
            self.part(&[])
        };
        let fits = |schema: &Value| self.runs.get() < MOST_RUNS && schema.to_string().len() <= LONGEST;
        DEPTHS.into_iter().map(of_depth).find(fits).unwrap_or(Value::Bool(true))
    }

    /// Deserializes once. Returns `None` when there have been too many runs, or the type's code panicked.
    pub(super) fn run(&self, path: &[Turn], sample: Option<Sample<'_>>, level: usize) -> Option<Seen> {
        loop {
            if self.runs.replace(self.runs.get() + 1) >= MOST_RUNS {
                return None;
            }
            let run = Run {
                path,
                sample,
                level,
                learned: &self.learned,
                found: Cell::new(None),
                reply: Cell::new(None),
                taken: Cell::new(0),
                named_key: Cell::new(false),
                variants: Cell::new(0),
                depth: Cell::new(0),
            };
            let probe = Probe { run: &run, mode: Mode::Follow(0) };
            let result = catch_unwind(AssertUnwindSafe(|| (self.deserialize)(probe))).ok()?;
            let found = run.found.get();
            if let Err(Stop { reason: Reason::MissingField(field), of: Some(key) }) = result
                && !matches!(found, Some(Hint::Struct(name, fields)) if struct_key(name, fields) == key)
                && self.learn(key, field)
            {
                continue;
            }
            let (reply, taken) = (run.reply.get(), run.taken.get());
            let (named_key, variants) = (run.named_key.get(), run.variants.get());
            return Some(Seen { found, reply, taken, named_key, variants });
        }
    }

    /// Records that a struct that fills a part needs a field. Returns `false` if that is known.
    fn learn(&self, key: StructKey, field: &'static str) -> bool {
        let mut learned = self.learned.borrow_mut();
        let fields = learned.entry(key).or_default();
        let is_new = !fields.contains(&field);
        if is_new {
            fields.push(field);
        }
        is_new
    }

    fn look(&self, path: &[Turn]) -> Option<Seen> {
        (0..LEVELS).find_map(|level| self.run(path, None, level).filter(|seen| seen.found.is_some()))
    }

    /// Returns the method that the part at the end of the path calls.
    pub(super) fn hint(&self, path: &[Turn]) -> Option<Hint> {
        self.look(path).and_then(|seen| seen.found)
    }

    pub(super) fn reply(&self, path: &[Turn], sample: Sample<'_>) -> Option<Result<(), Stop>> {
        (0..LEVELS).find_map(|level| self.run(path, Some(sample), level)?.reply)
    }

    fn refuses(&self, path: &[Turn], sample: Sample<'_>) -> bool {
        matches!(self.reply(path, sample), Some(Err(_)))
    }

    pub(super) fn replies(&self, path: &[Turn], sample: Sample<'_>, reason: Reason) -> bool {
        self.reply(path, sample).is_some_and(|reply| reply.is_err_and(|stop| stop.reason == reason))
    }

    /// Returns the schema of the part at the end of the path.
    pub(super) fn part(&self, path: &[Turn]) -> Value {
        if path.len() > self.deepest.get() {
            return Value::Bool(true);
        }
        let Some(hint) = self.hint(path) else { return Value::Bool(true) };
        match hint {
            Hint::Any => self.any(path),
            Hint::Ignored => Value::Bool(true),
            Hint::Bool => json!({"type": "boolean"}),
            Hint::Integer(least, greatest) => self.integer(path, least, greatest),
            Hint::Float => json!({"type": "number"}),
            Hint::Text | Hint::Identifier => json!({"type": "string"}),
            Hint::Char if ["", "ab"].iter().all(|text| self.refuses(path, Sample::Text(text))) => {
                json!({"type": "string", "minLength": 1, "maxLength": 1})
            }
            Hint::Char => json!({"type": "string"}),
            Hint::Bytes => json!({"type": ["string", "array"]}),
            Hint::Unit | Hint::UnitVariant => json!({"type": "null"}),
            Hint::Option => nullable(self.part(&then(path, Turn::Some))),
            Hint::List => self.list(path),
            Hint::Tuple(length) => self.tuple(path, length),
            Hint::Map => self.map(path),
            Hint::Struct(name, fields) => self.object(path, name, fields),
            Hint::Enum(variants) => self.variants(path, variants),
        }
    }

    /// A type that decides by the value. It refuses the kinds for which its visitor has no method.
    fn any(&self, path: &[Turn]) -> Value {
        const TAG: &[&str] = &[UNKNOWN];
        let kinds: [(&str, &[Sample<'_>]); 6] = [
            ("null", &[Sample::Null]),
            ("boolean", &[Sample::Bool(false), Sample::Bool(true)]),
            ("number", &[Sample::Unsigned(1), Sample::Signed(-1), Sample::Float(0.5)]),
            ("string", &[Sample::Text(""), Sample::Text("1")]),
            ("array", &[Sample::Items(0), Sample::Items(1)]),
            ("object", &[Sample::Keys(&[]), Sample::Keys(TAG)]),
        ];
        let refuses = |samples: &[Sample<'_>]| {
            samples.iter().all(|sample| self.replies(path, *sample, Reason::InvalidType))
        };
        let accepted: Vec<&str> =
            kinds.iter().filter(|(_, samples)| !refuses(samples)).map(|(kind, _)| *kind).collect();
        match accepted.as_slice() {
            [] | [_, _, _, _, _, _] => Value::Bool(true),
            ["array", "object"] => self.tagged(path).unwrap_or_else(|| json!({"type": ["array", "object"]})),
            [only] => json!({"type": only}),
            accepted => json!({"type": accepted}),
        }
    }

    /// An enum with an internal tag. The content of its variants is not known.
    fn tagged(&self, path: &[Turn]) -> Option<Value> {
        let Reason::MissingField(tag) = self.reply(path, Sample::Keys(&[]))?.err()?.reason else {
            return None;
        };
        let Reason::UnknownVariant(names) = self.reply(path, Sample::Keys(&[tag]))?.err()?.reason else {
            return None;
        };
        let names = json!({"type": "string", "enum": names});
        Some(json!({
            "type": "object",
            "properties": {tag: names},
            "required": [tag],
        }))
    }

    fn integer(&self, path: &[Turn], least: Option<i64>, greatest: Option<u64>) -> Value {
        let whole = [0.5, 1.0].iter().all(|value| self.refuses(path, Sample::Float(*value)));
        let mut schema = Map::new();
        schema.insert("type".to_owned(), if whole { "integer" } else { "number" }.into());
        if let Some(least) = least
            && let Some(below) = least.checked_sub(1)
            && self.refuses(path, Sample::Signed(below))
        {
            schema.insert("minimum".to_owned(), least.into());
        }
        if let Some(greatest) = greatest
            && let Some(above) = greatest.checked_add(1)
            && self.refuses(path, Sample::Unsigned(above))
        {
            schema.insert("maximum".to_owned(), greatest.into());
        }
        Value::Object(schema)
    }

    fn list(&self, path: &[Turn]) -> Value {
        let item = |index| then(path, Turn::Item(index));
        let first = self.hint(&item(0));
        // A visitor can give each item another type.
        let alike = |index| self.hint(&item(index)) == first;
        if first.is_none() || !(1..4).all(alike) {
            return json!({"type": "array"});
        }
        with(json!({"type": "array"}), "items", self.part(&item(0)))
    }

    fn tuple(&self, path: &[Turn], length: usize) -> Value {
        let mut schema = json!({"type": "array"});
        if (1..=MOST_PARTS).contains(&length) {
            let mut items: Vec<Value> =
                (0..length.min(16)).map(|index| self.part(&then(path, Turn::Item(index)))).collect();
            items.truncate(
                items.iter().rposition(|item| *item != Value::Bool(true)).map_or(0, |last| last + 1),
            );
            if !items.is_empty() {
                schema = with(schema, "prefixItems", Value::Array(items));
            }
        }
        let too_short = |shorter| self.replies(path, Sample::Items(shorter), Reason::InvalidLength);
        if length.checked_sub(1).is_some_and(too_short) {
            schema = with(schema, "minItems", length.into());
        }
        let longer = self.run(path, Some(Sample::Items(length.saturating_add(1))), 0);
        if longer.is_some_and(|seen| seen.reply == Some(Ok(())) && seen.taken == length) {
            schema = with(schema, "maxItems", length.into());
        }
        schema
    }

    fn map(&self, path: &[Turn]) -> Value {
        let schema = json!({"type": "object"});
        let value = |key| then(path, Turn::Value(key));
        let (Some(one), Some(other)) = (self.look(&value("1")), self.look(&value("2"))) else {
            return schema;
        };
        if one.named_key || one.found != other.found {
            return schema;
        }
        with(schema, "additionalProperties", self.part(&value("1")))
    }

    fn object(&self, path: &[Turn], name: &'static str, fields: &'static [&'static str]) -> Value {
        if fields.len() > MOST_PARTS {
            return json!({"type": "object"});
        }
        // A visitor without a method for objects.
        if self.replies(path, Sample::Keys(&[]), Reason::InvalidType) {
            return json!({"type": "array"});
        }
        if let Some(schema) = self.adjacent(path, fields) {
            return schema;
        }
        let properties: Map<String, Value> = fields
            .iter()
            .map(|field| ((*field).to_owned(), self.part(&then(path, Turn::Field(field)))))
            .collect();
        let mut schema = json!({"type": "object", "properties": properties});
        let (mut required, mut alternatives) = (Vec::new(), Vec::new());
        for (field, others) in self.required(path, name, fields) {
            if others.is_empty() {
                required.push(field);
            } else {
                let names = std::iter::once(field).chain(others);
                let names: Vec<Value> = names.map(|name| json!({"required": [name]})).collect();
                alternatives.push(json!({"anyOf": names}));
            }
        }
        if !required.is_empty() {
            schema = with(schema, "required", json!(required));
        }
        if !alternatives.is_empty() {
            schema = with(schema, "allOf", alternatives.into());
        }
        if self.replies(path, Sample::Keys(&[UNKNOWN]), Reason::UnknownField) {
            schema = with_always(schema, "additionalProperties", Value::Bool(false));
        }
        schema
    }

    fn variants(&self, path: &[Turn], variants: &'static [&'static str]) -> Value {
        let is_closed = match self.reply(path, Sample::Variant(UNKNOWN)) {
            Some(Err(stop)) => matches!(stop.reason, Reason::UnknownVariant(_)),
            _ => false,
        };
        if !is_closed || variants.len() > MOST_PARTS {
            return json!({"type": ["string", "object"]});
        }
        let (mut units, mut all) = (Vec::new(), Vec::new());
        for variant in variants {
            let path = then(path, Turn::Variant(variant));
            let hint = self.hint(&path);
            if matches!(hint, None | Some(Hint::UnitVariant)) {
                units.push(*variant);
            }
            if hint != Some(Hint::UnitVariant) {
                all.push(json!({
                    "type": "object",
                    "properties": {*variant: self.part(&path)},
                    "required": [variant],
                    "additionalProperties": false,
                }));
            }
        }
        if !units.is_empty() {
            all.insert(0, json!({"type": "string", "enum": units}));
        }
        match (all.len(), all.pop()) {
            (1, Some(only)) => only,
            (_, None) => Value::Bool(true),
            (_, Some(last)) => {
                all.push(last);
                json!({"anyOf": all})
            }
        }
    }
}

pub(super) fn then(path: &[Turn], turn: Turn) -> Vec<Turn> {
    path.iter().copied().chain([turn]).collect()
}

/// Adds a keyword, unless it would allow everything.
fn with(schema: Value, keyword: &str, value: Value) -> Value {
    if value == Value::Bool(true) { schema } else { with_always(schema, keyword, value) }
}

fn with_always(mut schema: Value, keyword: &str, value: Value) -> Value {
    if let Some(keywords) = schema.as_object_mut() {
        keywords.insert(keyword.to_owned(), value);
    }
    schema
}

fn nullable(schema: Value) -> Value {
    match schema {
        Value::Object(mut keywords)
            if keywords.get("type").is_some_and(Value::is_string) && !keywords.contains_key("enum") =>
        {
            let kind = keywords.remove("type");
            keywords.insert("type".to_owned(), json!([kind, "null"]));
            Value::Object(keywords)
        }
        Value::Bool(true) => Value::Bool(true),
        schema => json!({"anyOf": [schema, {"type": "null"}]}),
    }
}
