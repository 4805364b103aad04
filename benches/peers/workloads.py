"""The workloads and the programs that run them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Workload:
    key: str
    title: str
    # A run of the workload has this many units. The tables show the time of one.
    units: int
    unit: str


WORKLOADS = [
    Workload("chain", "chain of 1,000 nodes", 1_000, "node"),
    Workload("loop", "loop of 10,000 supersteps", 10_000, "superstep"),
    Workload("fan-out", "1 → 100 → 1, once", 1, "run"),
    Workload("fan-out-threads", "1 → 100 → 1, once, on two worker threads", 1, "run"),
    Workload("fan-out-loop", "1 → 100 → 1, 100 times in a loop", 100, "round"),
    Workload("fields-60", "60 fields, one written per superstep", 1_000, "superstep"),
    Workload("fields-100", "100 fields, one written per superstep", 1_000, "superstep"),
    Workload("messages", "1,000 messages, no store", 1_000, "message"),
    Workload("messages-memory", "1,000 messages, store in memory", 1_000, "message"),
    Workload("messages-sqlite", "1,000 messages, SQLite, default settings", 1_000, "message"),
    Workload("messages-sqlite-sync", "1,000 messages, SQLite, each on disk before the next", 1_000, "message"),
    Workload("messages-sqlite-deltas", "1,000 messages, SQLite, option to store changes only", 1_000, "message"),
]

# The rows of the table in the README.
SUMMARY = ["loop", "fan-out-loop", "fields-100", "messages-memory", "messages-sqlite", "messages-sqlite-sync"]

# The workloads whose number of instructions hardly depends on the machine.
COUNTED = ["chain", "loop", "fan-out", "fan-out-loop", "fields-100", "messages", "messages-memory"]


@dataclass(frozen=True)
class Program:
    # The folder of a Rust program, or the name of a Python file.
    key: str
    title: str
    # The packages whose versions are shown. None are shown for the baseline.
    packages: tuple[str, ...]
    state: str
    fan_out: str
    memory: str
    sqlite: str
    python: bool = False


PROGRAMS = [
    Program(
        "by-hand",
        "by hand",
        (),
        "struct",
        "`join_all`; `JoinSet` on two threads",
        "the new message as JSON",
        "the new message; a thread writes the queued rows, one `fsync` per transaction",
    ),
    Program(
        "superstep",
        "superstep",
        ("superstep", "superstep-sqlite"),
        "struct",
        "packets, their number known at run time",
        "the changed fields as JSON; new items only for a list",
        "the changed fields; the next supersteps run meanwhile; one `fsync` per group of supersteps",
    ),
    Program(
        "cognis-graph",
        "cognis-graph",
        ("cognis-graph",),
        "struct, copied for each task",
        "`Send`, all tasks on one thread; the last one alone names the next node",
        "a copy of the whole state",
        "the whole state as JSON; one commit per superstep",
    ),
    Program(
        "juncture",
        "juncture",
        ("juncture", "juncture-checkpoint"),
        "struct, at most 64 fields",
        "`Command` with `SendTarget`, the state of each as JSON; tokio spawns them",
        "the whole state as JSON, and the update",
        "the whole state and the update as MessagePack; two commits per superstep",
    ),
    Program(
        "langgraph",
        "langgraph (Rust)",
        ("langgraph", "langgraph-core-rs", "langgraph-checkpoint-sqlite-rs"),
        "JSON values",
        "100 nodes with edges, run one after another",
        "all channels as JSON",
        "all channels as JSON; one commit per superstep; needs a runtime with worker threads",
    ),
    Program(
        "adk-graph",
        "adk-graph",
        ("adk-graph",),
        "map of JSON values, copied for each task",
        "100 nodes with edges, all on one thread",
        "a copy of the whole state",
        "the whole state as JSON; one commit per superstep",
    ),
    Program(
        "graph-flow",
        "graph-flow",
        ("graph-flow",),
        "one shared map of JSON values, no updates and no reducers",
        "`FanOutTask` with 100 children, which tokio spawns",
        "a reference to the session, whose state later tasks change",
        "none (PostgreSQL only)",
    ),
    Program(
        "langgraph_python",
        "LangGraph (Python)",
        ("langgraph", "langgraph-checkpoint", "langgraph-checkpoint-sqlite"),
        "dictionary",
        "`Send`",
        "the changed channels and all writes, as MessagePack",
        "all channels as MessagePack, and all writes; the next superstep runs meanwhile",
        python=True,
    ),
    Program(
        "pydantic_graph_python",
        "pydantic-graph (Python)",
        ("pydantic-graph",),
        "one shared object, no updates and no reducers",
        "`map` and `join`",
        "none",
        "none",
        python=True,
    ),
]

BASELINE, OURS = "by-hand", "superstep"
