"""The workloads with pydantic-graph. Its steps change one shared state; there are no reducers for fields."""

import asyncio
from dataclasses import dataclass, field, make_dataclass
from typing import Any, Literal

from pydantic_graph import GraphBuilder, StepContext, TypeExpression, reduce_sum

import harness
from harness import CHAIN, LOOP, ROUNDS, STEPS, SUM, TEXT, WIDTH

Next = Literal["again", "enough"]


@dataclass
class Count:
    total: int = 0


def again_or_end(graph, step, target):
    """Leads from `step` back to `target` as long as it returns "again"."""
    decision = graph.decision()
    decision = decision.branch(graph.match(TypeExpression[Literal["again"]]).to(target))
    decision = decision.branch(graph.match(TypeExpression[Literal["enough"]]).to(graph.end_node))
    return graph.edge_from(step).to(decision)


def program(builder, state, check):
    graph = builder.build()
    loop = asyncio.new_event_loop()

    def run(prepared):
        loop.run_until_complete(graph.run(state=prepared, infer_name=False))

    return lambda _: state(), run, lambda prepared, _: check(prepared)


def chain():
    graph = GraphBuilder(state_type=Count)

    async def add(ctx: StepContext[Count, None, None]) -> None:
        ctx.state.total += 1

    steps = [graph.step(add, node_id=f"add-{number}") for number in range(CHAIN)]
    nodes = [graph.start_node, *steps, graph.end_node]
    graph.add(*(graph.edge_from(node).to(next) for node, next in zip(nodes, nodes[1:])))

    def check(state):
        assert state.total == CHAIN

    return program(graph, Count, check)


def looped(state_type, end, state, check):
    graph = GraphBuilder(state_type=state_type, output_type=Any)

    @graph.step
    async def tick(ctx: StepContext[state_type, None, None]) -> Next:
        ctx.state.total += 1
        return "again" if ctx.state.total < end else "enough"

    graph.add(graph.edge_from(graph.start_node).to(tick), again_or_end(graph, tick, tick))
    return program(graph, state, check)


def loop():
    def check(state):
        assert state.total == LOOP

    return looped(Count, LOOP, Count, check)


@dataclass
class Sums:
    round: int = 0
    total: int = 0


def fan_out(rounds):
    graph = GraphBuilder(state_type=Sums, output_type=Any)

    @graph.step
    async def split(_: StepContext[Sums, None, Any]) -> list[int]:
        return list(range(WIDTH))

    @graph.step
    async def work(ctx: StepContext[Sums, None, int]) -> int:
        return ctx.inputs

    @graph.step
    async def collect(ctx: StepContext[Sums, None, int]) -> Next:
        ctx.state.total += ctx.inputs
        ctx.state.round += 1
        return "again" if ctx.state.round < rounds else "enough"

    total = graph.join(reduce_sum, initial=0)
    graph.add(
        graph.edge_from(graph.start_node).to(split),
        graph.edge_from(split).map().to(work),
        graph.edge_from(work).to(total),
        graph.edge_from(total).to(collect),
        again_or_end(graph, collect, split),
    )

    def check(state):
        assert state == Sums(rounds, rounds * SUM)

    return program(graph, Sums, check)


def fields(number):
    texts = [f"field_{field}" for field in range(1, number)]
    large = make_dataclass("Large", [("total", int, 0), *((name, str, TEXT) for name in texts)])

    def check(state):
        assert state == large(total=STEPS)

    return looped(large, STEPS, large, check)


@dataclass
class Chat:
    messages: list[dict] = field(default_factory=list)


def messages():
    graph = GraphBuilder(state_type=Chat, output_type=Any)

    @graph.step
    async def answer(ctx: StepContext[Chat, None, Any]) -> Next:
        ctx.state.messages.append(harness.message(len(ctx.state.messages)))
        return "again" if len(ctx.state.messages) < STEPS else "enough"

    graph.add(graph.edge_from(graph.start_node).to(answer), again_or_end(graph, answer, answer))
    return program(graph, Chat, lambda chat: harness.check_messages(chat.messages))


if __name__ == "__main__":
    no_store = lambda: harness.cannot("no stores")
    harness.main({
        "chain": chain,
        "loop": loop,
        "fan-out": lambda: fan_out(1),
        "fan-out-threads": lambda: harness.cannot("one thread only"),
        "fan-out-loop": lambda: fan_out(ROUNDS),
        "fields-60": lambda: fields(60),
        "fields-100": lambda: fields(100),
        "messages": messages,
        "messages-memory": no_store,
        "messages-sqlite": no_store,
        "messages-sqlite-sync": no_store,
        "messages-sqlite-deltas": no_store,
    })
