//! Taking results away.

use superstep_store::cache::{Clear, EntryKey};

use crate::Broken;
use crate::cache::case::Here;
use crate::cache::desk::{Desk, at, of, put};
use crate::expect::same;

/// Results of several nodes of several graphs.
async fn filled(here: Here<'_>) -> Result<(Desk, Vec<EntryKey>), Broken> {
    let desk = here.open().await?;
    let mut names = Vec::new();
    for graph in ["g", "g%", "", "G"] {
        for node in ["n", "n_", ""] {
            for key in ["1", "2"] {
                names.push(at(graph, node, "s", key));
            }
        }
    }
    desk.puts(names.iter().map(|at| put(at, "1")).collect()).await?;
    Ok((desk, names))
}

/// That what is covered is gone, and everything else is there.
async fn clears(here: Here<'_>, which: Clear, count: u64) -> Result<(), Broken> {
    let (desk, names) = filled(here).await?;
    same("it says how many it has taken away", count, desk.clear(which.clone()).await?)?;
    for at in names {
        let left = if which.covers(&at) { None } else { Some("1".to_owned()) };
        same(format!("{which:?} takes away what it says, of {at:?}"), left, desk.get(&at).await?)?;
    }
    same("once", 0, desk.clear(which).await?)
}

pub(crate) async fn all_is_cleared(here: Here<'_>) -> Result<(), Broken> {
    clears(here, Clear::All, 24).await
}

pub(crate) async fn a_graph_is_cleared_and_nothing_else(here: Here<'_>) -> Result<(), Broken> {
    clears(here, Clear::OfGraph("g".into()), 6).await
}

pub(crate) async fn a_node_is_cleared_and_nothing_else(here: Here<'_>) -> Result<(), Broken> {
    clears(here, Clear::OfNode { graph: "g%".into(), node: "n".into() }, 2).await
}

pub(crate) async fn what_has_expired_is_cleared_and_nothing_else(here: Here<'_>) -> Result<(), Broken> {
    let (desk, _) = filled(here).await?;
    // NewEntry by one that is ahead, so that no put takes them away.
    for n in 0..1_500_u64 {
        desk.put_for(&of(&n.to_string()), "1", 1 + n % 3).await?;
    }
    let expired = |desk: &Desk| Clear::Expired { now: desk.now };
    same("nothing is cleared before its time", 0, desk.clear(expired(&desk)).await?)?;
    same("what has expired is cleared", 500, desk.clear(expired(&desk.later(1))).await?)?;
    same("once", 0, desk.clear(expired(&desk.later(1))).await?)?;
    same("with the rest", 1_000, desk.clear(expired(&desk.later(3))).await?)?;
    same("and nothing else", 24, desk.clear(Clear::All).await?)
}
