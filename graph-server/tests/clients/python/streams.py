from checks import client, collect, contains, data, equal, events


async def stream(url, graph, input, **options):
    return await collect(client(url).runs.stream(None, graph, input=input, **options))


async def test_values(url):
    parts = await stream(url, "steps", {"text": "a"})
    equal(parts[0].event, "metadata")
    assert parts[0].data["run_id"] and parts[0].data["attempt"] == 1, parts[0]
    equal(
        data(parts, "values"),
        [{"text": "a", "log": log} for log in ([], ["one a"], ["one a", "two a"])],
    )
    assert "secret" not in str(parts)


async def test_updates_and_custom(url):
    parts = await stream(url, "steps", {"text": "a"}, stream_mode=["updates", "custom"])
    equal(events(parts), ["metadata", "custom", "updates", "updates"])
    equal(data(parts, "custom"), [{"working on": "a"}])
    equal(data(parts, "updates"), [{"one": {"log": ["one a"]}}, {"two": {"log": ["two a"]}}])


async def test_tasks(url):
    parts = data(await stream(url, "steps", {"text": "a"}, stream_mode="tasks"), "tasks")
    equal([part["name"] for part in parts], ["one", "one", "two", "two"])
    assert "input" in parts[0] and "triggers" in parts[0], parts[0]
    equal(parts[0]["id"], parts[1]["id"])
    equal((parts[1]["error"], parts[1]["interrupts"]), (None, []))


async def test_checkpoints_and_debug(url):
    api = client(url)
    id = (await api.threads.create())["thread_id"]
    parts = await collect(api.runs.stream(id, "steps", input={"text": "a"}, stream_mode=["checkpoints", "debug"]))
    found = data(parts, "checkpoints")
    equal([part["metadata"]["step"] for part in found], [-1, 0, 1, 2])
    equal([part["next"] for part in found], [["__start__"], ["one"], ["two"], []])
    ids = [part["config"]["configurable"]["checkpoint_id"] for part in found]
    equal(ids, sorted(ids))
    history = await api.threads.get_history(id)
    equal([state["checkpoint"]["checkpoint_id"] for state in history], ids[::-1])
    kinds = [part["type"] for part in data(parts, "debug")]
    equal(kinds.count("task"), 2)
    equal(kinds.count("task_result"), 2)
    equal(kinds.count("checkpoint"), 4)


async def test_errors(url):
    parts = await stream(url, "steps", {"text": "boom"}, stream_mode="updates")
    equal(events(parts), ["metadata", "updates", "error"])
    assert "boom" in parts[-1].data["message"], parts[-1]


async def test_subgraphs(url):
    parts = await stream(url, "parent", {"text": "a"}, stream_mode="updates", stream_subgraphs=True)
    names = [part.event.split(":")[0] for part in parts]
    equal(names, ["metadata", "updates|child", "updates|child", "updates", "updates"])
    equal(parts[1].data, {"one": {"log": ["one a"]}})
    parts = await stream(url, "parent", {"text": "a"}, stream_mode="updates")
    equal([list(part) for part in data(parts, "updates")], [["child"], ["last"]])


async def test_messages(url):
    input = {"messages": [{"role": "user", "content": "hi"}]}
    parts = await stream(url, "chat", input, stream_mode=["messages-tuple", "values"])
    chunks = [part[0] for part in data(parts, "messages")]
    assert len(chunks) > 1, parts
    equal({chunk["type"] for chunk in chunks}, {"AIMessageChunk"})
    equal("".join(chunk["content"] for chunk in chunks), "Hello, you said: hi")
    final = data(parts, "values")[-1]["messages"]
    equal([message["type"] for message in final], ["human", "ai"])
    equal({chunk["id"] for chunk in chunks}, {final[-1]["id"]})
    metadata = data(parts, "messages")[0][1]
    assert metadata["langgraph_node"] and metadata["graph_id"] == "chat", metadata

    parts = await stream(url, "chat", input, stream_mode="messages")
    partial = data(parts, "messages/partial")
    equal(partial[-1][0]["content"], "Hello, you said: hi")
    assert all(later[0]["content"].startswith(earlier[0]["content"]) for earlier, later in zip(partial, partial[1:]))
    equal(len(data(parts, "messages/metadata")), 1)


async def test_tools(url):
    input = {"messages": [{"type": "human", "content": "six times seven"}]}
    parts = await stream(url, "chat", input, stream_mode=["messages-tuple", "values"])
    final = data(parts, "values")[-1]["messages"]
    equal([message["type"] for message in final], ["human", "ai", "tool", "ai"])
    equal(final[1]["tool_calls"][0]["name"], "multiply")
    equal(final[1]["tool_calls"][0]["args"], {"left": 6, "right": 7})
    equal((final[2]["content"], final[2]["tool_call_id"]), ("42", "call_1"))
    equal(final[3]["content"], "It is 42.")
    parts = await stream(url, "chat", input, stream_mode=["messages-tuple", "updates"])
    result = next(part["tools"]["messages"][0] for part in data(parts, "updates") if "tools" in part)
    contains(result, type="tool", content="42", tool_call_id="call_1", name="multiply")
    assert "$id" not in str(parts), parts
    kinds = {part[0]["type"] for part in data(parts, "messages")}
    equal(kinds, {"AIMessageChunk", "tool"})


async def test_resumable(url):
    api = client(url)
    id = (await api.threads.create())["thread_id"]
    parts = await collect(
        api.runs.stream(id, "steps", input={"text": "a"}, stream_mode=["values", "updates"], stream_resumable=True)
    )
    assert all(part.id for part in parts), parts
    equal(len({part.id for part in parts}), len(parts))
    run = parts[0].data["run_id"]
    whole = await collect(api.runs.join_stream(id, run, last_event_id="-1"))
    equal([part[:2] for part in whole], [part[:2] for part in parts])
    rest = await collect(api.runs.join_stream(id, run, last_event_id=parts[2].id))
    equal([part[:2] for part in rest], [part[:2] for part in parts[3:]])
    filtered = await collect(api.runs.join_stream(id, run, last_event_id="-1", stream_mode="updates"))
    equal(set(events(filtered)) - {"metadata"}, {"updates"})


async def test_join_a_running_stream(url):
    api = client(url)
    id = (await api.threads.create())["thread_id"]
    run = await api.runs.create(id, "slow", input={"ticks": 10}, stream_mode="values", stream_resumable=True)
    parts = await collect(api.runs.join_stream(id, run["run_id"], last_event_id="-1"))
    equal(data(parts, "values")[-1]["done"], list(range(9, -1, -1)))
    equal(data(parts, "values")[0]["done"], [])
