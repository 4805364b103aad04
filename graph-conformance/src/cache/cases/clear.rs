//! Removal of results.

use superstep_store::cache::{Clear, EntryKey};

use crate::Broken;
use crate::cache::case::Target;
use crate::cache::fixture::{Fixture, at, of, put};
use crate::expect::same;

/// Puts results of several nodes of several graphs.
async fn prepare(target: Target<'_>) -> Result<(Fixture, Vec<EntryKey>), Broken> {
    let fixture = target.open().await?;
    let mut names = Vec::new();
    for graph in ["g", "g%", "", "G"] {
        for node in ["n", "n_", ""] {
            for key in ["1", "2"] {
                names.push(at(graph, node, "s", key));
            }
        }
    }
    fixture.puts(names.iter().map(|at| put(at, "1")).collect()).await?;
    Ok((fixture, names))
}

/// Checks that exactly the selected results are removed.
async fn clears(target: Target<'_>, which: Clear, count: u64) -> Result<(), Broken> {
    let (fixture, names) = prepare(target).await?;
    same("clear returns the number of removed results", count, fixture.clear(which.clone()).await?)?;
    for at in names {
        let left = if which.covers(&at) { None } else { Some("1".to_owned()) };
        same(
            format!("{which:?} removes exactly its results, also for {at:?}"),
            left,
            fixture.get(&at).await?,
        )?;
    }
    same("a repeated call removes nothing", 0, fixture.clear(which).await?)
}

pub(crate) async fn clear_all_removes_everything(target: Target<'_>) -> Result<(), Broken> {
    clears(target, Clear::All, 24).await
}

pub(crate) async fn clear_graph_removes_only_its_results(target: Target<'_>) -> Result<(), Broken> {
    clears(target, Clear::graph("g"), 6).await
}

pub(crate) async fn clear_node_removes_only_its_results(target: Target<'_>) -> Result<(), Broken> {
    clears(target, Clear::node("g%", "n"), 2).await
}

pub(crate) async fn clear_expired_removes_only_expired_results(target: Target<'_>) -> Result<(), Broken> {
    let (fixture, _) = prepare(target).await?;
    // All puts have the same time, so that no put removes an expired result.
    for n in 0..1_500_u64 {
        fixture.put_for(&of(&n.to_string()), "1", 1 + n % 3).await?;
    }
    let expired = |fixture: &Fixture| Clear::expired(fixture.now);
    same("a result is not cleared before it expires", 0, fixture.clear(expired(&fixture)).await?)?;
    same("expired results are cleared", 500, fixture.clear(expired(&fixture.later(1))).await?)?;
    same("a repeated call removes nothing", 0, fixture.clear(expired(&fixture.later(1))).await?)?;
    same(
        "the remaining expired results are cleared",
        1_000,
        fixture.clear(expired(&fixture.later(3))).await?,
    )?;
    same("nothing else is removed", 24, fixture.clear(Clear::All).await?)
}
