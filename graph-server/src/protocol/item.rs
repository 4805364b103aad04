use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::Value;

use super::schema::component;
use super::{Fields, Object, Place, Problems, Read, kind};
use crate::records::RESERVED;

/// A namespace of items: strings that are not empty, without dots, because queries join them with dots.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ItemNamespace(pub(crate) Vec<String>);

impl ItemNamespace {
    /// Reads the namespace of a query.
    pub(crate) fn of_query(text: &str, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let labels = text.split('.').filter(|_| !text.is_empty()).map(str::to_owned).collect();
        Self::check(labels, at, problems)
    }

    fn check(labels: Vec<String>, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        for (index, label) in labels.iter().enumerate() {
            if label.is_empty() || label.contains('.') {
                problems.add(&Place::Item(at, index), "expected a string that is not empty and has no `.`");
                return None;
            }
        }
        if labels.first().is_some_and(|first| first == RESERVED) {
            problems.add(at, "the namespace belongs to the server");
            return None;
        }
        Some(Self(labels))
    }
}

impl Read for ItemNamespace {
    fn read(value: Value, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        Self::check(Vec::read(value, at, problems)?, at, problems)
    }

    fn schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "array", "items": { "type": "string", "minLength": 1, "pattern": "^[^.]+$" } })
    }
}

/// Reads the namespace of one item, which is not empty.
fn own_namespace(fields: &mut Fields<'_>) -> Option<ItemNamespace> {
    let namespace = fields.required::<ItemNamespace>("namespace")?;
    if namespace.0.is_empty() {
        fields.refuse("namespace", "expected at least one string");
        return None;
    }
    Some(namespace)
}

/// The fields of an item that are indexed for searches by meaning.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Indexed {
    /// The fields of the store.
    Default,
    /// None.
    No,
    /// These.
    Fields(Vec<String>),
}

/// The body of `PUT /store/items`.
#[derive(Debug, JsonSchema)]
pub(crate) struct ItemPut {
    /// The namespace.
    #[schemars(with = "Vec<String>")]
    pub(crate) namespace: ItemNamespace,
    /// The key.
    pub(crate) key: String,
    /// The value.
    pub(crate) value: Object,
    /// The fields that are indexed for searches by meaning. `false` for none.
    #[schemars(with = "Value")]
    pub(crate) index: Indexed,
    /// The time to live in minutes.
    pub(crate) ttl: Option<Duration>,
}

impl Read for ItemPut {
    fn read(value: Value, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let mut fields = Fields::of(value, at, problems)?;
        let (namespace, key, value) =
            (own_namespace(&mut fields), fields.required("key"), fields.required("value"));
        let index = match fields.raw("index") {
            None | Some(Value::Null | Value::Bool(true)) => Indexed::Default,
            Some(Value::Bool(false)) => Indexed::No,
            Some(Value::Array(list)) => {
                match list.iter().map(|field| field.as_str().map(str::to_owned)).collect() {
                    Some(list) => Indexed::Fields(list),
                    None => {
                        fields.refuse("index", "expected `false` or an array of strings");
                        Indexed::Default
                    }
                }
            }
            Some(other) => {
                fields.refuse(
                    "index",
                    format_args!("expected `false` or an array of strings, found {}", kind(&other)),
                );
                Indexed::Default
            }
        };
        fields.refine("index", || {
            json_schema!({ "anyOf": [{ "type": ["boolean", "null"] }, { "type": "array", "items": { "type": "string" } }] })
        });
        let minutes = fields.optional::<f64>("ttl");
        fields.refine("ttl", || json_schema!({ "type": "number", "exclusiveMinimum": 0 }));
        let ttl = minutes.and_then(|minutes| Duration::try_from_secs_f64(minutes * 60.0).ok());
        if minutes.is_some() && ttl.is_none_or(|ttl| ttl.is_zero()) {
            fields.refuse("ttl", "expected a positive number of minutes");
        }
        Some(Self { namespace: namespace?, key: key?, value: value?, index, ttl })
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        component::<Self>(generator)
    }
}

/// The body of `DELETE /store/items`.
#[derive(Debug, JsonSchema)]
pub(crate) struct ItemDelete {
    /// The namespace.
    #[schemars(with = "Vec<String>")]
    pub(crate) namespace: ItemNamespace,
    /// The key.
    pub(crate) key: String,
}

impl Read for ItemDelete {
    fn read(value: Value, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let mut fields = Fields::of(value, at, problems)?;
        let (namespace, key) = (own_namespace(&mut fields), fields.required("key"));
        Some(Self { namespace: namespace?, key: key? })
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        component::<Self>(generator)
    }
}

/// The body of `POST /store/items/search`.
#[derive(Debug, JsonSchema)]
pub(crate) struct ItemSearch {
    /// Only items in this namespace and those inside it.
    #[schemars(with = "Vec<String>")]
    pub(crate) namespace_prefix: ItemNamespace,
    /// Conditions on the fields of the value.
    pub(crate) filter: Object,
    /// The query of a search by meaning.
    pub(crate) query: Option<String>,
    /// The maximum number of items.
    pub(crate) limit: usize,
    /// The number of items to skip.
    pub(crate) offset: usize,
    /// `true` to restart the time to live of the items.
    pub(crate) refresh_ttl: Option<bool>,
}

impl Read for ItemSearch {
    fn read(value: Value, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let mut fields = Fields::of(value, at, problems)?;
        let namespace_prefix = fields.optional("namespace_prefix").unwrap_or_default();
        let (limit, offset) = super::page(&mut fields, 10);
        Some(Self {
            namespace_prefix,
            filter: fields.optional("filter").unwrap_or_default(),
            query: fields.optional("query"),
            limit,
            offset,
            refresh_ttl: fields.optional("refresh_ttl"),
        })
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        component::<Self>(generator)
    }
}

/// The body of `POST /store/namespaces`.
#[derive(Debug, JsonSchema)]
pub(crate) struct NamespaceSearch {
    /// Only namespaces that begin with this one.
    #[schemars(with = "Vec<String>")]
    pub(crate) prefix: ItemNamespace,
    /// Only namespaces that end with this one.
    #[schemars(with = "Vec<String>")]
    pub(crate) suffix: ItemNamespace,
    /// The number of strings to which namespaces are cut.
    pub(crate) max_depth: Option<usize>,
    /// The maximum number of namespaces.
    pub(crate) limit: usize,
    /// The number of namespaces to skip.
    pub(crate) offset: usize,
}

impl Read for NamespaceSearch {
    fn read(value: Value, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let mut fields = Fields::of(value, at, problems)?;
        let (prefix, suffix) = (fields.optional("prefix"), fields.optional("suffix"));
        // Zero stands for an absent depth.
        let max_depth = usize::try_from(fields.integer("max_depth", 1..=1_000, 0)).unwrap_or_default();
        let (limit, offset) = super::page(&mut fields, 100);
        Some(Self {
            prefix: prefix.unwrap_or_default(),
            suffix: suffix.unwrap_or_default(),
            max_depth: (max_depth > 0).then_some(max_depth),
            limit,
            offset,
        })
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        component::<Self>(generator)
    }
}
