//! Commits: several batches in one call to the database, which decides about each.

use std::sync::Arc;

use superstep_store::checkpoint::{BatchWrite, CheckpointError, Conflict, Fence, WriteBatch};
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::columns::{Id, Param};
use crate::database::{Backoff, Database};
use crate::error::Failure;
use crate::schema::FORMAT;

use super::job::CommitJob;
use super::known_runs::KnownRuns;
use super::lists::{Lists, PARAMS};
use super::plan::{Plan, missing};

/// The outcome of a batch.
enum Outcome {
    Done(Result<(), CheckpointError>),
    /// A run that was thought to be known is not, so the batch has to be sent again.
    UnknownRun,
}

/// A failed call. `sent` is `true` if it may have reached the database.
struct Failed {
    failure: Failure,
    sent: bool,
}

/// Commits batches in order, and replies to their callers. A batch that fails does not affect the others.
///
/// If the connection is lost, the batches are sent again. Each carries a token, by which the database recognizes those that
/// it has applied, so none is applied twice.
pub(super) async fn commit(runs: &KnownRuns, database: &Arc<Database>, jobs: Vec<CommitJob>) {
    commit_again(runs, database, jobs, false).await;
}

/// Commits batches. `was_sent` is `true` if they were sent before and the answer was lost.
async fn commit_again(
    runs: &KnownRuns,
    database: &Arc<Database>,
    mut jobs: Vec<CommitJob>,
    mut was_sent: bool,
) {
    let mut backoff = Backoff::new(database.options().retry_timeout);
    let mut in_full = false;
    loop {
        let Failed { failure, sent } = match attempt(runs, database, &jobs, in_full).await {
            Ok(outcomes) => {
                let mut again = Vec::new();
                for (job, outcome) in jobs.into_iter().zip(outcomes) {
                    match outcome {
                        // Another writer has replaced the token by which the database recognizes these writes.
                        Outcome::Done(Err(CheckpointError::Conflict(_)))
                            if was_sent && !adds_checkpoint(&job.batch) =>
                        {
                            job.fail(&unknown(&Failure::lost("another writer has changed the thread since")));
                        }
                        Outcome::Done(result) => job.reply(result),
                        Outcome::UnknownRun => again.push(job),
                    }
                }
                if again.is_empty() {
                    return;
                }
                (jobs, in_full) = (again, true);
                continue;
            }
            Err(failed) => failed,
        };
        if failure.is_passing() {
            was_sent |= sent;
            let Err(failure) = backoff.wait(failure).await else { continue };
            let failure = if was_sent { unknown(&failure) } else { failure };
            return jobs.into_iter().for_each(|job| job.fail(&failure));
        }
        // The database has undone this attempt, but an earlier one may have been applied.
        if !sent || jobs.len() == 1 {
            let failure = if was_sent { unknown(&failure) } else { failure };
            return jobs.into_iter().for_each(|job| job.fail(&failure));
        }
        // One of them has failed: each is sent on its own, so that the others succeed.
        for job in jobs {
            Box::pin(commit_again(runs, database, vec![job], was_sent)).await;
        }
        return;
    }
}

/// Returns `true` if the database recognizes the batch by a checkpoint as well, as long as that exists.
fn adds_checkpoint(batch: &WriteBatch) -> bool {
    batch.writes.iter().any(|write| matches!(write, BatchWrite::Checkpoint(_)))
}

fn unknown(failure: &Failure) -> Failure {
    Failure::lost(format!(
        "{failure}; it is unknown whether the last write was made: read the thread before it is written again"
    ))
}

async fn attempt(
    runs: &KnownRuns,
    database: &Arc<Database>,
    jobs: &[CommitJob],
    in_full: bool,
) -> Result<Vec<Outcome>, Failed> {
    let connection = database.connection().await.map_err(|failure| Failed { failure, sent: false })?;
    let plans: Vec<Plan<'_>> = jobs.iter().map(|job| Plan::new(&job.batch)).collect();
    let mut lists = Lists::default();
    for (job, plan) in jobs.iter().zip(&plans) {
        let known = |run| if in_full { None } else { runs.id(&job.batch.thread, run) };
        let run_ids: Vec<Option<i64>> = plan.runs.iter().map(|run| known(run)).collect();
        lists.add(&job.batch, plan, job.token, &run_ids);
    }
    let known = i32::try_from(FORMAT).unwrap_or(i32::MAX);
    let mut params: Vec<Param<'_>> = Vec::with_capacity(PARAMS);
    params.push((&known, Type::INT4));
    params.extend(lists.params());
    let rows = database.call(&connection, database.statements().commit(), &params).await;
    let rows = match rows {
        Ok(rows) => rows,
        Err(failure) => {
            if failure.ends_connection() {
                drop(deadpool_postgres::Object::take(connection));
            }
            return Err(Failed { failure, sent: true });
        }
    };
    if rows.len() != jobs.len() {
        let failure = Failure::backend("the function `commit` of the schema did not answer for each batch");
        return Err(Failed { failure, sent: true });
    }
    let outcomes = jobs.iter().zip(&plans).zip(&rows);
    let outcomes = outcomes.map(|((job, plan), row)| outcome(runs, job, plan, row));
    outcomes.collect::<Result<_, _>>().map_err(|failure| Failed { failure, sent: true })
}

fn outcome(runs: &KnownRuns, job: &CommitJob, plan: &Plan<'_>, row: &Row) -> Result<Outcome, Failure> {
    let batch = &job.batch;
    let invalid = |reason: String| CheckpointError::invalid(Arc::clone(&batch.thread), reason);
    Ok(Outcome::Done(match row.try_get::<_, i16>(0)? {
        0 => {
            let ids: Option<Vec<i64>> = row.try_get(4)?;
            // Most batches have one run. The last is that of the next batch.
            if let Some((run, id)) = plan.runs.last().zip(ids.and_then(|ids| ids.last().copied())) {
                runs.remember(&batch.thread, run, id);
            }
            Ok(())
        }
        1 => {
            let epoch = row.try_get::<_, i64>(1)?.cast_unsigned();
            let head = row.try_get::<_, Option<Id>>(2)?.map(|Id(id)| id);
            let found = Fence::new(epoch, head);
            let (thread, namespace) = (Arc::clone(&batch.thread), Arc::clone(&batch.namespace));
            Err(CheckpointError::conflict(Conflict::new(thread, namespace, batch.fence, found)))
        }
        2 => Err(invalid(plan.invalid.clone().unwrap_or_default())),
        3 => {
            let Id(id) = row.try_get(3)?;
            Err(invalid(missing(batch, id)))
        }
        _ => return Ok(Outcome::UnknownRun),
    }))
}
