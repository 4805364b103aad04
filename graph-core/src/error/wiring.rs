/// One mistake in the wiring of a graph.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WiringProblem {
    /// There are no nodes.
    #[error("it has no nodes: add one with `.edge(START, node)`")]
    Empty,
    /// Nothing leaves START.
    #[error("nothing follows START: add `.edge(START, ..)` or `.route(START, ..)`")]
    NoStart,
    /// A node cannot be reached.
    #[error("node `{node}` cannot be reached from START: lead an edge or a route to it, or take it out")]
    Unreachable {
        /// The node.
        node: String,
    },
    /// A node has no way out.
    #[error(
        "node `{node}` leads nowhere: add `.edge({node}, ..)` (to END, if it is the last), or return a route from it"
    )]
    DeadEnd {
        /// The node.
        node: String,
    },
    /// A join waits for a node that can never finish before it.
    #[error("the join into `{target}` can never fill: {}", never_fills(.missing, .target))]
    JoinNeverFills {
        /// The join's target.
        target: String,
        /// The sources that are not reachable, or only through the target itself.
        missing: Vec<String>,
    },
    /// Two nodes have the same name.
    #[error("two nodes are called `{name}`: give one of them another name with `named(\"..\", {name})`")]
    DuplicateName {
        /// The name.
        name: String,
    },
    /// A node is called like a place that every graph has, or has an empty name.
    #[error("a node cannot be called `{name}`")]
    ReservedName {
        /// The name.
        name: String,
    },
    /// A node that cannot be told from others of its type has no name.
    #[error("a node of type `{of}` has no name of its own: wrap it in `named(\"..\", ..)`")]
    Nameless {
        /// The node's type.
        of: String,
    },
    /// A node leaves both by edges and by a route.
    #[error("node `{node}` has both edges and a route: a node has one way of leaving, remove one of them")]
    EdgeAndRoute {
        /// The node.
        node: String,
    },
    /// A node of a subgraph says something to a graph with another state.
    #[error(
        "a node within `{node}` returns `ParentCommand<{said}, ..>`, but the graph around it is on `{expected}`: return \
         `ParentCommand<{expected}, ..>`"
    )]
    SaidToAnother {
        /// The subgraph's node.
        node: String,
        /// The state that it is said of.
        said: String,
        /// The state of this graph.
        expected: String,
    },
    /// A node has two routes.
    #[error(
        "node `{node}` has two routes: one of `.route({node}, ..)` and the route that it returns has to go"
    )]
    TwoRoutes {
        /// The node.
        node: String,
    },
    /// A route leads to a node that the graph does not have.
    #[error(
        "the route of node `{node}` leads to `{to}` (by `{exit}`), which is not in the graph: add it with an edge or `.node({to})`"
    )]
    UnknownDestination {
        /// The node whose route it is.
        node: String,
        /// The exit.
        exit: String,
        /// The destination.
        to: String,
    },
    /// Something is said about a node that the graph does not have.
    #[error("`{node}` is {what}, but is not in the graph: add it with an edge or `.node({node})`")]
    UnknownNode {
        /// The node.
        node: String,
        /// What is said.
        what: &'static str,
    },
    /// A policy says what cannot be meant.
    #[error("the policy of {of} {what}")]
    Policy {
        /// Whose: "node `fetch`" or "all nodes".
        of: String,
        /// What is wrong with it.
        what: &'static str,
    },
    /// A node was given a policy twice.
    #[error("node `{node}` has two policies: say all of it in one")]
    TwoPolicies {
        /// The node.
        node: String,
    },
    /// A cache policy says what cannot be meant, or is for a node that cannot have one.
    #[error("the cache policy of node `{node}` {what}")]
    CacheMistake {
        /// The node.
        node: String,
        /// What is wrong with it.
        what: &'static str,
    },
    /// A node was given a cache policy twice.
    #[error("node `{node}` has two cache policies: one of them has to go")]
    TwoCaches {
        /// The node.
        node: String,
    },
    /// The key of a node that is sent a packet does not hang on the packet.
    #[error(
        "node `{node}` is sent the packet `{packet}`, which its cache key does not read, so that all packets would have one \
         result: read it in the key function (as `_: &{packet}`, if that is meant)"
    )]
    PacketNotInKey {
        /// The node.
        node: String,
        /// The packet's type.
        packet: String,
    },
    /// A cache key reads a packet that its node is not sent.
    #[error("the cache key of node `{node}` reads the packet `{packet}`, which the node is not sent")]
    KeyPacket {
        /// The node.
        node: String,
        /// The packet's type.
        packet: String,
    },
    /// A node has two error handlers.
    #[error("node `{node}` has two error handlers: one of them has to go")]
    TwoHandlers {
        /// The node.
        node: String,
    },
    /// A node has an error handler, and is said to have none.
    #[error(
        "node `{node}` has an error handler, and is said to have none: `.on_error({node}, ..)` or `.no_on_error({node})` has to go"
    )]
    HandlerAndNone {
        /// The node.
        node: String,
    },
    /// An error handler does not say where to go, in the place of a node whose result says so.
    #[error(
        "the error handler `{handler}` does not say where to go after node `{node}`, whose result is its route: return a \
         route from the handler, give the node another with `.on_error({node}, ..)`, or none with `.no_on_error({node})`"
    )]
    HandlerWithoutRoute {
        /// The node.
        node: String,
        /// Its error handler.
        handler: String,
    },
    /// An error handler reads a packet that its node is not sent.
    #[error("the error handler `{handler}` reads the packet `{packet}`, which node `{node}` is not sent")]
    HandlerPacket {
        /// The node.
        node: String,
        /// Its error handler.
        handler: String,
        /// The packet's type.
        packet: String,
    },
    /// A node that reads a packet is planned without one.
    #[error("node `{node}` reads the packet `{packet}`, but {by} leads to it without one")]
    PacketMissing {
        /// The node.
        node: String,
        /// The packet's type.
        packet: String,
        /// What leads there.
        by: String,
    },
    /// A packet is sent to a node that reads none, or another.
    #[error(
        "the route of node `{from}` sends a `{packet}` to node `{node}` (by `{exit}`), which does not read it"
    )]
    PacketNotRead {
        /// The node whose route it is.
        from: String,
        /// The exit.
        exit: String,
        /// The node.
        node: String,
        /// The packet's type.
        packet: String,
    },
    /// Two fields of the state have the same name in JSON: one of them in a state that is flattened into it.
    #[error(
        "two fields of the state are called `{name}` in JSON: `rename` the one that is not in the flattened state"
    )]
    DuplicateField {
        /// The name.
        name: String,
    },
    /// A route has no exit.
    #[error("the route of node `{node}` leads nowhere")]
    RouteWithoutExits {
        /// The node.
        node: String,
    },
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
