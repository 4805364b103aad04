use std::collections::BTreeMap;

use super::super::assistant_graph::{GraphQuery, GraphSchemas, SchemasJson, SubgraphQuery};
use super::super::assistants::DeleteQuery;
use super::super::drawing::Drawing;
use super::Described;
use super::operation::Operation;
use super::selected::Selected;
use crate::protocol::{
    AssistantCreate, AssistantFilter, AssistantPatch, AssistantSearch, SetLatest, VersionSearch,
};
use crate::records::{AssistantRecord, AssistantVersion};

pub(super) const ROUTES: &[Described] = &[
    ("POST", "/assistants", "create_assistant", |op| {
        op.body::<AssistantCreate>().ok::<AssistantRecord>("The assistant.");
        op.error(404, "There is no such graph.").error(409, "There is an assistant with this id.");
    }),
    ("POST", "/assistants/search", "search_assistants", |op| {
        op.body::<AssistantSearch>().ok::<Vec<Selected<AssistantRecord>>>("The assistants of the page.");
        pages(op);
    }),
    ("POST", "/assistants/count", "count_assistants", |op| {
        op.body::<AssistantFilter>().ok::<usize>("The number of assistants.");
    }),
    ("GET", "/assistants/{assistant}", "get_assistant", |op| {
        op.ok::<AssistantRecord>("The assistant.");
    }),
    ("PATCH", "/assistants/{assistant}", "update_assistant", |op| {
        op.body::<AssistantPatch>().ok::<AssistantRecord>("The new version of the assistant.");
    }),
    ("DELETE", "/assistants/{assistant}", "delete_assistant", |op| {
        op.query::<DeleteQuery>().empty(204, "The assistant is deleted.");
    }),
    ("POST", "/assistants/{assistant}/versions", "list_assistant_versions", |op| {
        op.body::<VersionSearch>().ok::<Vec<AssistantVersion>>("The versions, newest first.");
    }),
    ("POST", "/assistants/{assistant}/latest", "set_latest_assistant_version", |op| {
        op.body::<SetLatest>().ok::<AssistantRecord>("The assistant with this version.");
    }),
    ("GET", "/assistants/{assistant}/graph", "get_assistant_graph", |op| {
        op.query::<GraphQuery>().ok::<Drawing>("The graph.");
    }),
    ("GET", "/assistants/{assistant}/schemas", "get_assistant_schemas", |op| {
        op.about(
            "The JSON Schemas are derived from the state of the graph, if the server publishes them. Otherwise they only \
             have the names of the fields.",
        );
        op.ok::<GraphSchemas<'_>>("The JSON Schemas.");
    }),
    ("GET", "/assistants/{assistant}/subgraphs", "list_assistant_subgraphs", |op| {
        op.query::<SubgraphQuery>()
            .ok::<BTreeMap<String, SchemasJson<'_>>>("The subgraphs by their namespaces.");
    }),
    ("GET", "/assistants/{assistant}/subgraphs/{namespace}", "get_assistant_subgraph", |op| {
        op.query::<SubgraphQuery>().ok::<BTreeMap<String, SchemasJson<'_>>>("The subgraph by its namespace.");
    }),
];

/// The headers of a page.
pub(super) fn pages(op: &mut Operation<'_>) {
    op.header("X-Pagination-Total", "The end of this page, plus one if there are further items.");
    op.header("X-Pagination-Next", "The offset of the next page, if there is one.");
}
