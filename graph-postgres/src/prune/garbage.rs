//! Garbage collection after checkpoints were dropped: deletes the rows that no remaining checkpoint needs.

use std::collections::{BTreeMap, BTreeSet};

use superstep_store::checkpoint::CheckpointId;
use tokio_postgres::Client;
use tokio_postgres::types::Type;

use crate::columns::{Id, Param};
use crate::error::Failure;

use super::id;

/// The branches of a namespace, newest first, so that children come before their parents.
#[derive(Debug)]
struct Branch {
    id: i64,
    parent: Option<(i64, CheckpointId)>,
}

/// A row of changes, with the first and last checkpoint of its entries.
#[derive(Debug)]
struct Span {
    first: CheckpointId,
    last: CheckpointId,
    is_whole: bool,
}

/// The rows to delete, and those to cut after a checkpoint.
#[derive(Debug, Default)]
struct Garbage {
    deleted: (Vec<i64>, Vec<i64>, Vec<Id>),
    cut: (Vec<i64>, Vec<i64>, Vec<Id>, Vec<Id>),
}

/// Deletes the changes and branches of a namespace that no remaining checkpoint needs.
pub(super) async fn collect(client: &Client, namespace: i64) -> Result<(), Failure> {
    let params: [Param<'_>; 1] = [(&namespace, Type::INT8)];
    let of = |statement: &'static str| client.query_typed(statement, &params);
    let mut branches = Vec::new();
    for row in of("SELECT id, parent, fork FROM branch WHERE namespace = $1 ORDER BY id DESC").await? {
        let fork = row.try_get::<_, Option<Id>>(2)?.map(|Id(fork)| fork);
        branches.push(Branch { id: row.try_get(0)?, parent: row.try_get::<_, Option<i64>>(1)?.zip(fork) });
    }
    let mut remaining: BTreeMap<i64, Vec<CheckpointId>> = BTreeMap::new();
    for row in of("SELECT branch, id FROM checkpoint WHERE namespace = $1 ORDER BY id").await? {
        remaining.entry(row.try_get(0)?).or_default().push(id(&row, 1)?);
    }
    let mut fields: BTreeMap<i64, BTreeMap<i64, Vec<Span>>> = BTreeMap::new();
    for row in of("SELECT p.field, p.branch, p.first, \
         encode(substr(p.entries, length(p.entries) - 20, 16), 'hex')::uuid, p.whole \
         FROM branch b JOIN piece p ON p.branch = b.id WHERE b.namespace = $1 ORDER BY p.first")
    .await?
    {
        let span = Span { first: id(&row, 2)?, last: id(&row, 3)?, is_whole: row.try_get(4)? };
        fields.entry(row.try_get(0)?).or_default().entry(row.try_get(1)?).or_default().push(span);
    }
    let mut garbage = Garbage::default();
    for (field, spans) in &fields {
        collect_field(&branches, &remaining, *field, spans, &mut garbage);
    }
    garbage.remove(client).await?;
    let unneeded = unneeded_branches(&branches, &remaining);
    client.execute_typed("DELETE FROM branch WHERE id = ANY($1)", &[(&unneeded, Type::INT8_ARRAY)]).await?;
    Ok(())
}

fn collect_field(
    branches: &[Branch],
    remaining: &BTreeMap<i64, Vec<CheckpointId>>,
    field: i64,
    spans: &BTreeMap<i64, Vec<Span>>,
    garbage: &mut Garbage,
) {
    // For each branch, the fork points of children that read this field from it.
    let mut forks: BTreeMap<i64, Vec<CheckpointId>> = BTreeMap::new();
    for branch in branches {
        let mut readers = remaining.get(&branch.id).cloned().unwrap_or_default();
        readers.extend(forks.remove(&branch.id).unwrap_or_default());
        readers.sort_unstable();
        let spans = spans.get(&branch.id).map(Vec::as_slice).unwrap_or_default();
        let first_value = spans.iter().find(|span| span.is_whole).map(|span| span.first);
        // A reader before the first value continues in the parent branch.
        let sees_parent = readers.first().is_some_and(|first| first_value.is_none_or(|value| *first < value));
        if let (Some((parent, fork)), true) = (branch.parent, sees_parent) {
            forks.entry(parent).or_default().push(fork);
        }
        // A segment begins with a value, and ends before the next one. The first may have none.
        for segment in spans.chunk_by(|_, next| !next.is_whole) {
            let from = segment.first().filter(|first| first.is_whole).map(|first| first.first);
            let to = segment.last().and_then(|last| {
                let next = spans.partition_point(|span| span.first <= last.first);
                spans.get(next).map(|next| next.first)
            });
            let end = to.map_or(readers.len(), |to| readers.partition_point(|reader| *reader < to));
            let last_reader = readers.get(..end).and_then(<[_]>::last).copied();
            let until = last_reader.filter(|reader| from.is_none_or(|from| from <= *reader));
            segment.iter().for_each(|span| garbage.cut_span(branch.id, field, span, until));
        }
    }
}

fn unneeded_branches(branches: &[Branch], remaining: &BTreeMap<i64, Vec<CheckpointId>>) -> Vec<i64> {
    let mut needed: BTreeSet<i64> = remaining.keys().copied().collect();
    let mut unneeded = Vec::new();
    for branch in branches {
        if needed.contains(&branch.id) {
            needed.extend(branch.parent.map(|(parent, _)| parent));
        } else {
            unneeded.push(branch.id);
        }
    }
    unneeded
}

impl Garbage {
    /// Removes the entries of a row after `until`, or all of them if it is `None`.
    fn cut_span(&mut self, branch: i64, field: i64, span: &Span, until: Option<CheckpointId>) {
        if until.is_none_or(|until| until < span.first) {
            let (branches, fields, firsts) = &mut self.deleted;
            branches.push(branch);
            fields.push(field);
            firsts.push(Id(span.first));
        } else if let Some(until) = until.filter(|until| *until < span.last) {
            let (branches, fields, firsts, untils) = &mut self.cut;
            branches.push(branch);
            fields.push(field);
            firsts.push(Id(span.first));
            untils.push(Id(until));
        }
    }

    async fn remove(&self, client: &Client) -> Result<(), Failure> {
        let (branches, fields, firsts) = &self.deleted;
        let deleted: [Param<'_>; 3] =
            [(branches, Type::INT8_ARRAY), (fields, Type::INT8_ARRAY), (firsts, Type::UUID_ARRAY)];
        let statement = "DELETE FROM piece p USING unnest($1, $2, $3) AS d (branch, field, first) \
            WHERE p.branch = d.branch AND p.field = d.field AND p.first = d.first";
        client.execute_typed(statement, &deleted).await?;
        let (branches, fields, firsts, untils) = &self.cut;
        let cut: [Param<'_>; 4] = [
            (branches, Type::INT8_ARRAY),
            (fields, Type::INT8_ARRAY),
            (firsts, Type::UUID_ARRAY),
            (untils, Type::UUID_ARRAY),
        ];
        let statement = "SELECT cut(d.branch, d.field, d.first, d.until) \
            FROM unnest($1, $2, $3, $4) AS d (branch, field, first, until)";
        client.execute_typed(statement, &cut).await?;
        Ok(())
    }
}
