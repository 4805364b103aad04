from checks import UNKNOWN, client, collect, contains, data, equal, events, refused


async def finished(url):
    api = client(url)
    id = (await api.threads.create())["thread_id"]
    await api.runs.wait(id, "steps", input={"text": "a"})
    return api, id


async def test_state(url):
    api, id = await finished(url)
    state = await api.threads.get_state(id)
    contains(state, values={"text": "a", "log": ["one a", "two a"]}, next=[], tasks=[], interrupts=[])
    contains(state["checkpoint"], thread_id=id, checkpoint_ns="")
    contains(state["metadata"], source="loop", step=2, graph_id="steps", thread_id=id)
    by_id = await api.threads.get_state(id, checkpoint_id=state["checkpoint"]["checkpoint_id"])
    equal(by_id["values"], state["values"])
    by_checkpoint = await api.threads.get_state(id, checkpoint=state["parent_checkpoint"])
    contains(by_checkpoint, values={"text": "a", "log": ["one a"]}, next=["two"])
    await refused(404, api.threads.get_state(UNKNOWN))


async def test_empty_state(url):
    api = client(url)
    id = (await api.threads.create())["thread_id"]
    contains(await api.threads.get_state(id), values={}, next=[], tasks=[], checkpoint=None, created_at=None)
    equal(await api.threads.get_history(id), [])


async def test_history(url):
    api, id = await finished(url)
    history = await api.threads.get_history(id)
    equal([state["metadata"]["step"] for state in history], [2, 1, 0, -1])
    equal([state["next"] for state in history], [[], ["two"], ["one"], ["__start__"]])
    equal(history[1]["tasks"][0]["name"], "two")
    equal(history[1]["tasks"][0]["result"], {"log": ["two a"]})
    equal(history[0]["parent_checkpoint"], history[1]["checkpoint"])
    equal(len(await api.threads.get_history(id, limit=2)), 2)
    older = await api.threads.get_history(id, before=history[1]["checkpoint"])
    equal([state["metadata"]["step"] for state in older], [0, -1])
    equal(await api.threads.get_history(id, metadata={"step": 1}), [history[1]])


async def test_update(url):
    api, id = await finished(url)
    written = await api.threads.update_state(id, {"log": ["by hand"]}, as_node="one")
    contains(written["checkpoint"], thread_id=id, checkpoint_ns="")
    state = await api.threads.get_state(id)
    equal(state["checkpoint"]["checkpoint_id"], written["checkpoint"]["checkpoint_id"])
    contains(state, values={"text": "a", "log": ["one a", "two a", "by hand"]}, next=["two"])
    equal(state["metadata"]["source"], "update")
    values = await api.runs.wait(id, "steps", input=None)
    equal(values["log"], ["one a", "two a", "by hand", "two a"])
    await refused(422, api.threads.update_state(id, {"log": 1}, as_node="one"))
    await refused(422, api.threads.update_state(id, {"log": ["x"]}, as_node="no such node"))
    await refused(422, api.threads.update_state(id, {"secret": 1, "none": 1}, as_node="one"))


async def test_fork(url):
    api, id = await finished(url)
    history = await api.threads.get_history(id)
    forked = await api.runs.wait(id, "steps", input=None, checkpoint=history[1]["checkpoint"])
    equal(forked["log"], ["one a", "two a"])
    equal((await api.threads.get_history(id))[1]["metadata"]["source"], "fork")
    written = await api.threads.update_state(
        id, {"log": ["changed"]}, as_node="one", checkpoint=history[2]["checkpoint"]
    )
    values = await api.runs.wait(id, "steps", input=None, checkpoint_id=written["checkpoint"]["checkpoint_id"])
    equal(values["log"], ["changed", "two a"])


async def test_interrupt(url):
    api = client(url)
    id = (await api.threads.create())["thread_id"]
    values = await api.runs.wait(id, "approval", input={"item": "tea"})
    question = values["__interrupt__"][0]
    equal(question["value"], {"item": "tea"})
    equal(len(question["id"]), 32)
    thread = await api.threads.get(id)
    contains(thread, status="interrupted")
    equal([(item["id"], item["value"]) for item in next(iter(thread["interrupts"].values()))],
          [(question["id"], question["value"])])
    state = await api.threads.get_state(id)
    equal(state["next"], ["review"])
    equal(state["tasks"][0]["interrupts"][0]["id"], question["id"])
    equal(state["interrupts"][0]["id"], question["id"])
    equal((await api.runs.list(id))[0]["status"], "success")

    await refused(422, api.runs.wait(id, "approval", command={"resume": "perhaps"}))
    contains(await api.threads.get(id), status="interrupted")
    values = await api.runs.wait(id, "approval", command={"resume": True})
    equal(values, {"item": "tea", "approved": True, "log": ["approved True".replace("T", "t"), "shipped tea"]})
    contains(await api.threads.get(id), status="idle", interrupts={})


async def test_interrupt_in_a_stream(url):
    api = client(url)
    id = (await api.threads.create())["thread_id"]
    parts = await collect(api.runs.stream(id, "approval", input={"item": "tea"}, stream_mode=["values", "updates"]))
    question = data(parts, "updates")[-1]["__interrupt__"][0]
    equal(data(parts, "values")[-1]["__interrupt__"][0]["id"], question["id"])
    parts = await collect(
        api.runs.stream(id, "approval", command={"resume": {question["id"]: False}}, stream_mode="updates")
    )
    equal(events(parts), ["metadata", "updates", "updates"])
    equal(data(parts, "updates")[0], {"review": {"approved": False, "log": ["approved false"]}})


async def test_goto_and_update(url):
    api, id = await finished(url)
    values = await api.runs.wait(id, "steps", command={"update": {"text": "b"}, "goto": "two"})
    equal(values, {"text": "b", "log": ["one a", "two a", "two b"]})


async def test_breakpoints(url):
    api = client(url)
    id = (await api.threads.create())["thread_id"]
    parts = await collect(
        api.runs.stream(id, "steps", input={"text": "a"}, interrupt_before=["two"], stream_mode="updates")
    )
    equal(data(parts, "updates"), [{"one": {"log": ["one a"]}}, {"__interrupt__": []}])
    contains(await api.threads.get(id), status="interrupted")
    equal((await api.threads.get_state(id))["next"], ["two"])
    equal((await api.runs.wait(id, "steps", input=None))["log"], ["one a", "two a"])
    id = (await api.threads.create())["thread_id"]
    values = await api.runs.wait(id, "steps", input={"text": "a"}, interrupt_after="*")
    equal(values["log"], ["one a"])


async def test_nothing_to_do(url):
    api, id = await finished(url)
    before = (await api.threads.get_state(id))["values"]
    equal(await api.runs.wait(id, "steps", command={"resume": True}), before)
    fresh = (await api.threads.create())["thread_id"]
    failed = await api.runs.wait(fresh, "steps", input=None, raise_error=False)
    assert "EmptyInput" in failed["__error__"]["error"], failed


async def test_subgraph_state(url):
    api = client(url)
    id = (await api.threads.create())["thread_id"]
    await api.runs.wait(id, "parent", input={"text": "a"}, interrupt_before=["last"])
    state = await api.threads.get_state(id, subgraphs=True)
    contains(state, values={"text": "a", "log": ["one a", "two a"]}, next=["last"])
