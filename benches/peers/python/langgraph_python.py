"""The workloads with LangGraph, the Python library."""

import operator
import sqlite3
from typing import Annotated, TypedDict

from langgraph.channels import DeltaChannel
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Send

import harness
from harness import CHAIN, LOOP, ROUNDS, STEPS, SUM, TEXT, WIDTH


class Count(TypedDict):
    total: int


def add(state):
    return {"total": state["total"] + 1}


def count(graph, expected):
    options = {"recursion_limit": LOOP + 1}

    def check(_, state):
        assert state["total"] == expected

    return lambda _: None, lambda _: graph.invoke({"total": 0}, options), check


def chain():
    builder = StateGraph(Count)
    builder.add_sequence([(f"add-{number}", add) for number in range(CHAIN)])
    builder.add_edge(START, "add-0")
    return count(builder.compile(), CHAIN)


def loop():
    builder = StateGraph(Count)
    builder.add_node("tick", add)
    builder.add_edge(START, "tick")
    builder.add_conditional_edges("tick", lambda state: "tick" if state["total"] < LOOP else END, ["tick", END])
    return count(builder.compile(), LOOP)


class Sums(TypedDict):
    round: int
    total: Annotated[int, operator.add]


def fan_out(rounds):
    builder = StateGraph(Sums)
    builder.add_node("split", lambda _: {})
    builder.add_node("work", lambda item: {"total": item})
    builder.add_node("collect", lambda state: {"round": state["round"] + 1})
    builder.add_edge(START, "split")
    builder.add_conditional_edges("split", lambda _: [Send("work", item) for item in range(WIDTH)], ["work"])
    builder.add_edge("work", "collect")
    builder.add_conditional_edges(
        "collect", lambda state: "split" if state["round"] < rounds else END, ["split", END]
    )
    graph = builder.compile()

    def check(_, state):
        assert state == {"round": rounds, "total": rounds * SUM}

    options = {"recursion_limit": 4 * ROUNDS}
    return lambda _: None, lambda _: graph.invoke({"round": 0, "total": 0}, options), check


def fields(number):
    texts = {f"field_{field}": TEXT for field in range(1, number)}
    builder = StateGraph(TypedDict("Large", {"total": int} | {name: str for name in texts}))
    builder.add_node("tick", add)
    builder.add_edge(START, "tick")
    builder.add_conditional_edges("tick", lambda state: "tick" if state["total"] < STEPS else END, ["tick", END])
    graph = builder.compile()

    def check(_, state):
        assert state == {"total": STEPS} | texts

    options = {"recursion_limit": STEPS + 1}
    return lambda _: None, lambda _: graph.invoke({"total": 0} | texts, options), check


class Chat(TypedDict):
    messages: Annotated[list[dict], operator.add]


class ChatOfDeltas(TypedDict):
    messages: Annotated[list[dict], DeltaChannel(lambda current, writes: sum(writes, current))]


def messages(open_store, schema=Chat, **options):
    def answer(state):
        return {"messages": [harness.message(len(state["messages"]))]}

    builder = StateGraph(schema)
    builder.add_node("answer", answer)
    builder.add_edge(START, "answer")
    builder.add_conditional_edges(
        "answer", lambda state: "answer" if len(state["messages"]) < STEPS else END, ["answer", END]
    )
    config = {"recursion_limit": STEPS + 1, "configurable": {"thread_id": "1"}}

    def run(graph):
        return graph.invoke({"messages": []}, config, **options)

    def check(graph, state):
        harness.check_messages(state["messages"])
        if graph.checkpointer is not None:
            # The same state, read from the store.
            harness.check_messages(graph.get_state(config).values["messages"])

    return lambda folder: builder.compile(checkpointer=open_store(folder)), run, check


def open_sqlite(folder):
    saver = SqliteSaver(sqlite3.connect(f"{folder}/threads.db", check_same_thread=False))
    saver.setup()
    return saver


if __name__ == "__main__":
    harness.main({
        "chain": chain,
        "loop": loop,
        "fan-out": lambda: fan_out(1),
        "fan-out-threads": lambda: harness.cannot("its tasks use a pool of threads in every run"),
        "fan-out-loop": lambda: fan_out(ROUNDS),
        "fields-60": lambda: fields(60),
        "fields-100": lambda: fields(100),
        "messages": lambda: messages(lambda _: None),
        "messages-memory": lambda: messages(lambda _: InMemorySaver()),
        "messages-sqlite": lambda: messages(open_sqlite),
        "messages-sqlite-sync": lambda: messages(open_sqlite, durability="sync"),
        "messages-sqlite-deltas": lambda: messages(open_sqlite, ChatOfDeltas),
    })
