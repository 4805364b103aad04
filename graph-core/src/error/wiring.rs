/// One mistake in the wiring of a graph.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WiringProblem {
    /// The graph has no nodes.
    #[error("the graph has no nodes: add one with `.edge(START, node)`")]
    Empty,
    /// The start value of a field breaks a rule of the field.
    #[error(
        "the start value of field `{field}` breaks `{rule}`{}: choose another one with `#[state(default = ..)]`", after(.message)
    )]
    #[non_exhaustive]
    StartValue {
        /// The field.
        field: String,
        /// The rule, as written.
        rule: String,
        /// The message of the rule. It is empty if the field is excluded from dumps.
        message: String,
    },
    /// A map has keys that are no strings in JSON, so it cannot be stored.
    #[error(
        "the map in field `{field}` has keys of type `{key}`, which are no strings in JSON: use another type for the keys, or set \
         `#[state(with = ..)]` or `#[state(untracked)]`"
    )]
    #[non_exhaustive]
    MapKey {
        /// The field.
        field: String,
        /// The type of the keys.
        key: String,
    },
    /// Nothing leaves START.
    #[error("nothing follows START: add `.edge(START, ..)` or `.route(START, ..)`")]
    NoStart,
    /// A node cannot be reached.
    #[error("node `{node}` cannot be reached from START: add an edge or a route to it, or remove it")]
    #[non_exhaustive]
    Unreachable {
        /// The node.
        node: String,
    },
    /// A node has no way out.
    #[error(
        "node `{node}` leads nowhere: add `.edge({node}, ..)` (to END if it is the last node), or return a route from it"
    )]
    #[non_exhaustive]
    DeadEnd {
        /// The node.
        node: String,
    },
    /// A join waits for a node that can never finish before the join's target.
    #[error("the join into `{target}` can never fill: {}", never_fills(.missing, .target))]
    #[non_exhaustive]
    JoinNeverFills {
        /// The join's target.
        target: String,
        /// The sources that are not reachable, or only through the target itself.
        missing: Vec<String>,
    },
    /// Two nodes have the same name.
    #[error("two nodes are named `{name}`: give one of them another name with `named(\"..\", {name})`")]
    #[non_exhaustive]
    DuplicateName {
        /// The name.
        name: String,
    },
    /// A node has a reserved name (`START` or `END`) or an empty name.
    #[error("a node cannot be named `{name}`: choose another name with `named(\"..\", ..)`")]
    #[non_exhaustive]
    ReservedName {
        /// The name.
        name: String,
    },
    /// A node has no name that distinguishes it from other nodes of its type, as with closures.
    #[error("a node of type `{of}` has no name of its own: wrap it in `named(\"..\", ..)`")]
    #[non_exhaustive]
    Nameless {
        /// The node's type.
        of: String,
    },
    /// A node leaves both by edges and by a route.
    #[error("node `{node}` has both edges and a route: remove one of the two")]
    #[non_exhaustive]
    EdgeAndRoute {
        /// The node.
        node: String,
    },
    /// A node inside a subgraph returns a command for a parent graph with another state.
    #[error(
        "a node inside subgraph `{node}` returns `ParentCommand<{parent_commands}, ..>`, but the state of the parent graph is \
         `{expected}`: return `ParentCommand<{expected}, ..>`"
    )]
    #[non_exhaustive]
    ParentStateMismatch {
        /// The subgraph's node.
        node: String,
        /// The state type of the command.
        parent_commands: String,
        /// The state type of the parent graph.
        expected: String,
    },
    /// A node has two routes.
    #[error(
        "node `{node}` has two routes: keep either one `.route({node}, ..)` or the route that it returns"
    )]
    #[non_exhaustive]
    DuplicateRoute {
        /// The node.
        node: String,
    },
    /// A route leads to a node that the graph does not have.
    #[error(
        "the route of node `{node}` leads to `{to}` (by `{exit}`), which is not in the graph: add it with an edge or `.node({to})`"
    )]
    #[non_exhaustive]
    UnknownDestination {
        /// The node that the route leaves.
        node: String,
        /// The exit.
        exit: String,
        /// The destination.
        to: String,
    },
    /// A route leads to a node that the graph cannot have, because the node reads another state.
    #[error(
        "the route of node `{node}` leads to `{to}` (by `{exit}`), which reads the state `{reads}`, but the state of this graph is \
         `{state}`: lead to a node that reads `{state}`; or put `{to}` into a graph over `{reads}`, add that graph with \
         `.as_node(\"{to}\").mapped(..)`, and write `#[to(\"{to}\")]`"
    )]
    #[non_exhaustive]
    DestinationOfOtherState {
        /// The node that the route leaves.
        node: String,
        /// The exit.
        exit: String,
        /// The destination.
        to: String,
        /// The state that the destination reads.
        reads: String,
        /// The state of the graph.
        state: String,
    },
    /// A setting refers to a node that the graph does not have.
    #[error("`{node}` is {what}, but is not in the graph: add it with an edge or `.node({node})`")]
    #[non_exhaustive]
    UnknownNode {
        /// The node.
        node: String,
        /// The setting, as the predicate of the message: "deferred".
        what: &'static str,
    },
    /// A policy has an invalid value.
    #[error("the policy of {of} {what}")]
    #[non_exhaustive]
    InvalidPolicy {
        /// The nodes that it applies to: "node `fetch`" or "all nodes".
        of: String,
        /// The mistake, as the predicate of the message.
        what: &'static str,
    },
    /// A node was given two policies.
    #[error("node `{node}` has two policies: combine them into one")]
    #[non_exhaustive]
    DuplicatePolicy {
        /// The node.
        node: String,
    },
    /// A cache policy has an invalid value, or belongs to a node that cannot have one.
    #[error("the cache policy of node `{node}` {what}")]
    #[non_exhaustive]
    InvalidCachePolicy {
        /// The node.
        node: String,
        /// The mistake, as the predicate of the message.
        what: &'static str,
    },
    /// A node was given two cache policies.
    #[error("node `{node}` has two cache policies: remove one of them")]
    #[non_exhaustive]
    DuplicateCachePolicy {
        /// The node.
        node: String,
    },
    /// A node is sent a packet that its cache key does not depend on.
    #[error(
        "the cache key of node `{node}` does not read the packet `{packet}`, so all packets would share one result: add a \
         parameter `&{packet}` to the key function (`_: &{packet}` if sharing is intended)"
    )]
    #[non_exhaustive]
    PacketNotInCacheKey {
        /// The node.
        node: String,
        /// The packet's type.
        packet: String,
    },
    /// A cache key reads a packet that its node is not sent.
    #[error(
        "the cache key of node `{node}` reads the packet `{packet}`, which the node is not sent: remove that parameter from \
         the key function"
    )]
    #[non_exhaustive]
    CacheKeyPacket {
        /// The node.
        node: String,
        /// The packet's type.
        packet: String,
    },
    /// A node has two error handlers.
    #[error("node `{node}` has two error handlers: remove one of them")]
    #[non_exhaustive]
    DuplicateErrorHandler {
        /// The node.
        node: String,
    },
    /// A node has an error handler, and is also declared to have none.
    #[error(
        "node `{node}` has both `.on_error({node}, ..)` and `.no_on_error({node})`: remove one of the two"
    )]
    #[non_exhaustive]
    HandlerAndNone {
        /// The node.
        node: String,
    },
    /// An error handler returns no route, but stands in for a node that returns its route.
    #[error(
        "node `{node}` returns its route, but its error handler `{handler}` returns none: return a route from the handler, \
         choose another handler with `.on_error({node}, ..)`, or none with `.no_on_error({node})`"
    )]
    #[non_exhaustive]
    HandlerWithoutRoute {
        /// The node.
        node: String,
        /// Its error handler.
        handler: String,
    },
    /// An error handler reads a packet that its node is not sent.
    #[error(
        "the error handler `{handler}` reads the packet `{packet}`, which node `{node}` is not sent: remove that parameter, \
         or choose another handler with `.on_error({node}, ..)`"
    )]
    #[non_exhaustive]
    HandlerPacket {
        /// The node.
        node: String,
        /// Its error handler.
        handler: String,
        /// The packet's type.
        packet: String,
    },
    /// An edge or an exit leads to a node that reads a packet, without sending one.
    #[error(
        "node `{node}` reads the packet `{packet}`, but {by} leads to it without one: send it a packet there"
    )]
    #[non_exhaustive]
    PacketMissing {
        /// The node.
        node: String,
        /// The packet's type.
        packet: String,
        /// The edge or exit, as the subject of the message.
        by: String,
    },
    /// A route sends a packet to a node that reads no packet, or one of another type.
    #[error(
        "the route of node `{from}` sends a `{packet}` to node `{node}` (by `{exit}`), which does not read it: give the \
         node a parameter `&{packet}`"
    )]
    #[non_exhaustive]
    PacketNotRead {
        /// The node that the route leaves.
        from: String,
        /// The exit.
        exit: String,
        /// The node.
        node: String,
        /// The packet's type.
        packet: String,
    },
    /// Two fields have the same name in JSON, one of them in a flattened state.
    #[error(
        "two fields of the state are called `{name}` in JSON: `rename` one of them, in the struct that declares it"
    )]
    #[non_exhaustive]
    DuplicateField {
        /// The name.
        name: String,
    },
    /// Two nodes always run in one superstep and both write a field that only one of them may write. A run in which both
    /// succeed would fail with [`WriteConflict`](crate::ErrorKind::WriteConflict).
    #[error(
        "nodes `{first}` and `{second}` always run in the same superstep, and both {what} the field `{field}`: {cure}, or run \
         `{second}` later, with `.edge({first}, {second})` in place of what leads to it now"
    )]
    #[non_exhaustive]
    AlwaysConcurrentWrites {
        /// The node that was added first.
        first: String,
        /// The other node.
        second: String,
        /// The field.
        field: String,
        /// The writes, as a verb: "write" or "overwrite".
        what: &'static str,
        /// The change of the field or of the updates that helps.
        cure: &'static str,
    },
    /// A subgraph keeps its state on the thread, inside a subgraph whose calls do not allow it.
    #[error("subgraph `{inside}` keeps its state on the thread, but it is inside subgraph `{node}`, {what}")]
    #[non_exhaustive]
    StateNotKept {
        /// The subgraph node of this graph.
        node: String,
        /// The subgraph that keeps its state, as a path of nodes inside `node`.
        inside: String,
        /// The reason and the cure, as the end of the message.
        what: &'static str,
    },
    /// A route has no exits.
    #[error("the route of node `{node}` leads nowhere: add a variant to the route's enum")]
    #[non_exhaustive]
    RouteWithoutExits {
        /// The node.
        node: String,
    },
}

/// Returns `: message`, or nothing.
fn after(message: &str) -> String {
    if message.is_empty() { String::new() } else { format!(": {message}") }
}

fn never_fills(missing: &[String], target: &str) -> String {
    let sources: Vec<String> = missing
        .iter()
        .map(|source| {
            if source == target {
                format!("`{source}` would have to finish before itself")
            } else {
                format!("`{source}` cannot be reached before `{target}`")
            }
        })
        .collect();
    sources.join(", ")
}

impl WiringProblem {
    pub(super) fn list(problems: &[Self]) -> String {
        let count = problems.len();
        let mut text = format!(", it has {count} mistake{}", if count == 1 { "" } else { "s" });
        for problem in problems {
            text.push_str("\n  ");
            text.push_str(&problem.to_string());
        }
        text
    }
}
