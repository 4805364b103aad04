"""The graphs of graph-server/benches/load, for `langgraph dev`.

    pip install "langgraph-cli[inmem]==0.4.40"
    LANGSMITH_TRACING=false langgraph dev --no-browser --no-reload --port 2025
    cargo bench -p superstep-server --bench load -- --url http://127.0.0.1:2025 --pid PID_OF_LANGGRAPH_DEV

With `--n-jobs-per-worker 100`, the runs of all streams that are held open are active, as they are in the other server.
"""

import asyncio
import operator
from typing import Annotated, TypedDict

from langgraph.graph import END, START, StateGraph


class Text(TypedDict):
    text: str
    log: Annotated[list[str], operator.add]


async def one(state: Text):
    return {"log": [f"one {state['text']}"]}


async def two(state: Text):
    return {"log": [f"two {state['text']}"]}


async def three(state: Text):
    return {"log": [f"three {state['text']}"]}


async def sleep(_: Text):
    await asyncio.sleep(600)


three_nodes = (
    StateGraph(Text)
    .add_sequence([one, two, three])
    .add_edge(START, "one")
    .add_edge("three", END)
    .compile()
)
waiting = StateGraph(Text).add_node(sleep).add_edge(START, "sleep").add_edge("sleep", END).compile()
