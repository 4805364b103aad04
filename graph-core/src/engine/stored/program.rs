use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::checkpoint::Checkpoint;
use crate::engine::graph::Compiled;
use crate::error::ErrorKind;
use crate::plan::Target;

use super::corrupt::corrupt;
use super::json::reason;

/// The program that wrote a checkpoint, as its run's record stores it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Program {
    pub(crate) graph: String,
    /// A hash of the nodes' names and the connections between them.
    pub(crate) fingerprint: String,
    /// The versions of the state and of the states flattened into it, as far as they are not 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) versions: Vec<(String, u32)>,
}

impl Program {
    /// Describes this program.
    pub(crate) fn of(graph: &Compiled) -> Self {
        Self { graph: graph.name.clone(), fingerprint: fingerprint(graph), versions: graph.state.versions() }
    }

    /// Returns `true` if the graph's nodes or connections have changed since this was written.
    pub(crate) fn is_rewired(&self, graph: &Compiled) -> bool {
        self.fingerprint != fingerprint(graph)
    }

    /// Returns the form that a run's record stores.
    pub(crate) fn text(&self) -> Arc<str> {
        // Serializing only strings and numbers cannot fail.
        serde_json::to_string(self).unwrap_or_default().into()
    }

    /// Reads the program that wrote a checkpoint. Without a text, it is of an older version and has no versions.
    pub(crate) fn of_run(thread: &Arc<str>, checkpoint: &Checkpoint) -> Result<Self, ErrorKind> {
        let text = &checkpoint.run.program;
        if text.is_empty() {
            return Ok(Self::default());
        }
        serde_json::from_str(text)
            .map_err(|error| corrupt(thread, checkpoint, "the program of the run", reason(&error)))
    }
}

fn fingerprint(graph: &Compiled) -> String {
    let mut hash = Fnv::default();
    let to = |hash: &mut Fnv, targets: &[Target]| {
        for target in targets {
            match target {
                Target::Node(node) => hash.text(graph.node_name(*node)),
                Target::End => hash.text("END"),
            }
        }
    };
    let topology = &graph.topology;
    let plans = std::iter::once(("START", &topology.start));
    let plans = plans.chain(graph.names.iter().map(|name| &**name).zip(&topology.nodes));
    for (name, plan) in plans {
        hash.text(name);
        to(&mut hash, &plan.edges);
        for exit in plan.exits.iter().chain(&plan.handler_exits) {
            hash.text(exit.label);
            to(&mut hash, &exit.to);
        }
        hash.text(if plan.deferred { "deferred" } else { "" });
    }
    for join in &topology.joins {
        hash.text("join");
        join.sources.iter().for_each(|&source| hash.text(graph.node_name(source)));
        to(&mut hash, &[join.target]);
    }
    format!("{:016x}", hash.0)
}

/// FNV-1a. The hash is stored, so it must never change; the standard library does not promise that.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    fn text(&mut self, text: &str) {
        // 0xff never occurs in UTF-8, so it separates the strings.
        for byte in text.bytes().chain([0xff]) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}
