use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::Value;

use super::schema::component;
use super::{AssistantId, Fields, IfExists, Object, Place, Problems, Read, SortOrder, names};

names! {
    /// The fields by which assistants are sorted.
    pub(crate) enum AssistantSort {
        /// By id.
        AssistantId = "assistant_id",
        /// By the graph.
        GraphId = "graph_id",
        /// By the name.
        Name = "name",
        /// By the time of creation.
        CreatedAt = "created_at",
        /// By the time of the last change.
        UpdatedAt = "updated_at",
    }
}

names! {
    /// The fields of an assistant, as `select` names them.
    pub(crate) enum AssistantField {
        /// The id.
        AssistantId = "assistant_id",
        /// The graph.
        GraphId = "graph_id",
        /// The name.
        Name = "name",
        /// The description.
        Description = "description",
        /// The config of its runs.
        Config = "config",
        /// The context of its runs.
        Context = "context",
        /// The time of creation.
        CreatedAt = "created_at",
        /// The time of the last change.
        UpdatedAt = "updated_at",
        /// The metadata.
        Metadata = "metadata",
        /// The version.
        Version = "version",
    }
}

/// The body of `POST /assistants`.
#[derive(Debug, JsonSchema)]
pub(crate) struct AssistantCreate {
    /// The id that the client has chosen.
    pub(crate) assistant_id: Option<AssistantId>,
    /// The graph.
    pub(crate) graph_id: String,
    /// The reaction to an assistant that exists.
    pub(crate) if_exists: IfExists,
    /// Everything else.
    #[schemars(flatten)]
    pub(crate) settings: AssistantSettings,
}

/// The settings of an assistant, as the bodies of `POST` and `PATCH` have them.
#[derive(Debug, Default, JsonSchema)]
pub(crate) struct AssistantSettings {
    /// The config of its runs.
    pub(crate) config: Option<Object>,
    /// The context of its runs.
    pub(crate) context: Option<Object>,
    /// The metadata.
    pub(crate) metadata: Option<Object>,
    /// The name.
    pub(crate) name: Option<String>,
    /// The description.
    pub(crate) description: Option<String>,
}

impl AssistantSettings {
    fn of(fields: &mut Fields<'_>) -> Self {
        let settings = Self {
            config: fields.optional("config"),
            context: fields.optional("context"),
            metadata: fields.optional("metadata"),
            name: fields.optional("name"),
            description: fields.optional("description"),
        };
        let configurable = settings.config.as_ref().and_then(|config| config.get("configurable"));
        match configurable {
            Some(Value::Object(given)) => {
                if !given.is_empty() && settings.context.as_ref().is_some_and(|context| context != given) {
                    fields.refuse(
                        "context",
                        "`config.configurable` is given too: they are the same, send one of them",
                    );
                }
            }
            None | Some(Value::Null) => {}
            Some(_) => fields.refuse("config.configurable", "expected an object"),
        }
        settings
    }

    /// Completes `config.configurable` by the context, and the context by `config.configurable`: they are the same.
    pub(crate) fn with_one_context(mut self) -> Self {
        let configurable =
            self.config.as_ref().and_then(|config| config.get("configurable")?.as_object().cloned());
        match (&self.context, configurable) {
            (Some(context), _) => {
                let context = context.clone();
                self.config.get_or_insert_default().insert("configurable".to_owned(), context.into());
            }
            (None, Some(configurable)) => self.context = Some(configurable),
            (None, None) => {}
        }
        self
    }
}

impl Read for AssistantCreate {
    fn read(value: Value, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let mut fields = Fields::of(value, at, problems)?;
        let graph_id = fields.required("graph_id");
        let assistant_id = fields.optional("assistant_id");
        let if_exists = fields.optional("if_exists").unwrap_or(IfExists::Raise);
        let settings = AssistantSettings::of(&mut fields).with_one_context();
        Some(Self { assistant_id, graph_id: graph_id?, if_exists, settings })
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        component::<Self>(generator)
    }
}

/// The body of `PATCH /assistants/{assistant}`.
#[derive(Debug, JsonSchema)]
pub(crate) struct AssistantPatch {
    /// The new graph.
    pub(crate) graph_id: Option<String>,
    /// The new settings. Metadata are merged.
    #[schemars(flatten)]
    pub(crate) settings: AssistantSettings,
}

impl Read for AssistantPatch {
    fn read(value: Value, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let mut fields = Fields::of(value, at, problems)?;
        let settings = AssistantSettings::of(&mut fields).with_one_context();
        Some(Self { graph_id: fields.optional("graph_id"), settings })
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        component::<Self>(generator)
    }
}

/// The filters of `POST /assistants/search` and `POST /assistants/count`.
#[derive(Debug, Default, JsonSchema)]
pub(crate) struct AssistantFilter {
    /// Only assistants with these metadata.
    pub(crate) metadata: Object,
    /// Only assistants of this graph.
    pub(crate) graph_id: Option<String>,
    /// Only assistants whose name contains this string, in upper or lower case.
    pub(crate) name: Option<String>,
}

impl AssistantFilter {
    fn of(fields: &mut Fields<'_>) -> Self {
        Self {
            metadata: fields.optional("metadata").unwrap_or_default(),
            graph_id: fields.optional("graph_id"),
            name: fields.optional("name"),
        }
    }
}

impl Read for AssistantFilter {
    fn read(value: Value, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        Some(Self::of(&mut Fields::of(value, at, problems)?))
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        component::<Self>(generator)
    }
}

/// The body of `POST /assistants/search`.
#[derive(Debug, JsonSchema)]
pub(crate) struct AssistantSearch {
    /// The filters.
    #[schemars(flatten)]
    pub(crate) filter: AssistantFilter,
    /// The maximum number of assistants.
    pub(crate) limit: usize,
    /// The number of assistants to skip.
    pub(crate) offset: usize,
    /// The field by which the assistants are sorted.
    pub(crate) sort_by: AssistantSort,
    /// The order.
    pub(crate) sort_order: SortOrder,
    /// The fields to return. Empty stands for all.
    pub(crate) select: Vec<AssistantField>,
}

impl Read for AssistantSearch {
    fn read(value: Value, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let mut fields = Fields::of(value, at, problems)?;
        let filter = AssistantFilter::of(&mut fields);
        let (limit, offset) = super::page(&mut fields, 10);
        Some(Self {
            filter,
            limit,
            offset,
            sort_by: fields.optional("sort_by").unwrap_or(AssistantSort::CreatedAt),
            sort_order: fields.optional("sort_order").unwrap_or(SortOrder::Descending),
            select: fields.optional("select").unwrap_or_default(),
        })
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        component::<Self>(generator)
    }
}

/// The body of `POST /assistants/{assistant}/versions`.
#[derive(Debug, JsonSchema)]
pub(crate) struct VersionSearch {
    /// Only versions with these metadata.
    pub(crate) metadata: Object,
    /// The maximum number of versions.
    pub(crate) limit: usize,
    /// The number of versions to skip.
    pub(crate) offset: usize,
}

impl Read for VersionSearch {
    fn read(value: Value, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let mut fields = Fields::of(value, at, problems)?;
        let metadata = fields.optional("metadata").unwrap_or_default();
        let (limit, offset) = super::page(&mut fields, 10);
        Some(Self { metadata, limit, offset })
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        component::<Self>(generator)
    }
}

/// The body of `POST /assistants/{assistant}/latest`.
#[derive(Debug, JsonSchema)]
pub(crate) struct SetLatest {
    /// The version.
    pub(crate) version: u64,
}

impl Read for SetLatest {
    fn read(value: Value, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let mut fields = Fields::of(value, at, problems)?;
        Some(Self { version: fields.required("version")? })
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        component::<Self>(generator)
    }
}
