use super::super::store::{FoundItems, FoundNamespaces, ItemJson, ItemQuery};
use super::Described;
use crate::protocol::{ItemDelete, ItemPut, ItemSearch, NamespaceSearch};

pub(super) const ROUTES: &[Described] = &[
    ("GET", "/store/items", "get_item", |op| {
        op.query::<ItemQuery>().ok::<Option<ItemJson<'_>>>("The item, or null.");
    }),
    ("PUT", "/store/items", "put_item", |op| {
        op.body::<ItemPut>().empty(204, "The item is stored.");
    }),
    ("DELETE", "/store/items", "delete_item", |op| {
        op.body::<ItemDelete>().empty(204, "There is no such item any more.");
    }),
    ("POST", "/store/items/search", "search_items", |op| {
        op.body::<ItemSearch>().ok::<FoundItems<'_>>("The items of the page.");
    }),
    ("POST", "/store/namespaces", "list_namespaces", |op| {
        op.body::<NamespaceSearch>().ok::<FoundNamespaces<'_>>("The namespaces of the page.");
    }),
];
