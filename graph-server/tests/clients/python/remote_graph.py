import asyncio
import uuid

from checks import contains, equal
from langgraph.pregel.remote import RemoteGraph
from langgraph.types import Command


def config():
    return {"configurable": {"thread_id": str(uuid.uuid4())}}


async def thread(url):
    from checks import client

    return {"configurable": {"thread_id": (await client(url).threads.create())["thread_id"]}}


async def test_invoke_and_stream(url):
    graph = RemoteGraph("steps", url=url)
    equal(await graph.ainvoke({"text": "a"}), {"text": "a", "log": ["one a", "two a"]})
    updates = [part async for part in graph.astream({"text": "a"}, stream_mode="updates")]
    equal(updates, [{"one": {"log": ["one a"]}}, {"two": {"log": ["two a"]}}])
    both = [part async for part in graph.astream({"text": "a"}, stream_mode=["updates", "custom"])]
    equal([part.event for part in both], ["custom", "updates", "updates"])
    equal(await asyncio.to_thread(graph.invoke, {"text": "b"}), {"text": "b", "log": ["one b", "two b"]})


async def test_graph(url):
    drawn = await RemoteGraph("parent", url=url).aget_graph(xray=True)
    equal(list(drawn.nodes), ["__start__", "child:one", "child:two", "last", "__end__"])


async def test_states(url):
    graph, at = RemoteGraph("steps", url=url), await thread(url)
    await graph.ainvoke({"text": "a"}, at)
    state = await graph.aget_state(at)
    equal((state.values, state.next), ({"text": "a", "log": ["one a", "two a"]}, ()))
    history = [state async for state in graph.aget_state_history(at)]
    equal([state.metadata["step"] for state in history], [2, 1, 0, -1])
    older = [state async for state in graph.aget_state_history(at, before=history[1].config)]
    equal([state.metadata["step"] for state in older], [0, -1])
    await graph.aupdate_state(at, {"log": ["by hand"]}, as_node="one")
    equal((await graph.aget_state(at)).next, ("two",))
    equal((await graph.ainvoke(None, at))["log"], ["one a", "two a", "by hand", "two a"])


async def test_interrupts(url):
    graph, at = RemoteGraph("approval", url=url), await thread(url)
    stopped = await graph.ainvoke({"item": "tea"}, at)
    equal(stopped["__interrupt__"][0]["value"], {"item": "tea"})
    state = await graph.aget_state(at)
    equal(state.tasks[0].interrupts[0].value, {"item": "tea"})
    done = await graph.ainvoke(Command(resume=True), at)
    contains(done, approved=True, log=["approved true", "shipped tea"])
