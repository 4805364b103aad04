import uuid

from checks import UNKNOWN, client, contains, default_assistant, equal, refused


async def test_wait(url):
    api = client(url)
    id = (await api.threads.create(metadata={"user": "ann"}))["thread_id"]
    values = await api.runs.wait(id, "steps", input={"text": "tea", "unknown": 1}, metadata={"run": 1})
    equal(values, {"text": "tea", "log": ["one tea", "two tea"]})
    thread = await api.threads.get(id)
    contains(thread, status="idle", values=values, interrupts={}, error=None)
    contains(thread["metadata"], user="ann", graph_id="steps", assistant_id=default_assistant("steps"))
    values = await api.runs.wait(id, default_assistant("steps"), input={"text": "milk"})
    equal(values["log"], ["one tea", "two tea", "one milk", "two milk"])


async def test_stateless(url):
    runs = client(url).runs
    values = await runs.wait(None, "steps", input={"text": "tea"})
    equal(values, {"text": "tea", "log": ["one tea", "two tea"]})
    kept = await runs.create(None, "steps", input={"text": "tea"}, on_completion="keep")
    equal(await runs.join(kept["thread_id"], kept["run_id"]), values)
    contains(await client(url).threads.get(kept["thread_id"]), values=values)


async def test_create_join_and_list(url):
    api = client(url)
    id = (await api.threads.create())["thread_id"]
    seen = []
    first = await api.runs.create(
        id, "steps", input={"text": "a"}, metadata={"k": 1}, on_run_created=lambda run: seen.append(run)
    )
    contains(first, thread_id=id, assistant_id=default_assistant("steps"), status="pending", multitask_strategy="enqueue")
    equal(first["kwargs"]["input"], {"text": "a"})
    equal(seen, [{"run_id": first["run_id"], "thread_id": id}])
    equal(uuid.UUID(first["run_id"]).version, 7)
    second = await api.runs.create(id, "steps", input={"text": "b"})
    values = await api.runs.join(id, second["run_id"])
    equal(values["log"], ["one a", "two a", "one b", "two b"])
    listed = await api.runs.list(id)
    equal([run["run_id"] for run in listed], [second["run_id"], first["run_id"]])
    equal([run["status"] for run in listed], ["success", "success"])
    equal([run["run_id"] for run in await api.runs.list(id, limit=1, offset=1)], [first["run_id"]])
    equal(await api.runs.list(id, status="error"), [])
    equal(await api.runs.list(id, limit=1, select=["run_id"]), [{"run_id": second["run_id"]}])
    contains(await api.runs.get(id, first["run_id"]), status="success")
    await api.runs.delete(id, first["run_id"])
    await refused(404, api.runs.get(id, first["run_id"]))
    await refused(404, api.runs.get(id, UNKNOWN))


async def test_errors(url):
    api = client(url)
    id = (await api.threads.create())["thread_id"]
    failed = await api.runs.wait(id, "steps", input={"text": "boom"}, raise_error=False)
    assert "boom" in failed["__error__"]["message"], failed
    contains(await api.threads.get(id), status="error")
    equal((await api.runs.list(id))[0]["status"], "error")
    values = await api.runs.wait(id, "steps", input={"text": "tea"})
    equal(values["log"][-2:], ["one tea", "two tea"])
    contains(await api.threads.get(id), status="idle", error=None)
    await refused(404, api.runs.wait(UNKNOWN, "steps", input={"text": "a"}))
    await refused(404, api.runs.wait(id, UNKNOWN, input={"text": "a"}))
    await refused(422, api.runs.wait(id, "no such graph", input={"text": "a"}))
    detail = await refused(422, api.runs.wait(id, "steps", input={"text": 1}))
    assert "text" in detail, detail
    await refused(422, api.runs.wait(id, "steps", input={}))
    await refused(422, api.runs.create(id, "steps", input={"text": "a"}, multitask_strategy="wait"))


async def test_if_not_exists(url):
    api = client(url)
    id = str(uuid.uuid4())
    values = await api.runs.wait(id, "steps", input={"text": "a"}, if_not_exists="create")
    equal(values["log"], ["one a", "two a"])
    contains(await api.threads.get(id), status="idle")


async def test_context(url):
    api = client(url)
    id = (await api.threads.create())["thread_id"]
    values = await api.runs.wait(id, "greet", input={"text": "a"}, context={"name": "Ann"})
    equal(values["log"], ["hello Ann"])
    values = await api.runs.wait(id, "greet", input={"text": "a"}, config={"configurable": {"name": "Bob"}})
    equal(values["log"], ["hello Ann", "hello Bob"])
    made = await api.assistants.create("greet", context={"name": "Cyd"})
    values = await api.runs.wait(id, made["assistant_id"], input={"text": "a"})
    equal(values["log"][-1], "hello Cyd")
    await refused(422, api.runs.wait(id, "greet", input={"text": "a"}))


async def test_durability(url):
    api = client(url)
    for durability, checkpoints in [("exit", 1), ("sync", 4), ("async", 4)]:
        id = (await api.threads.create())["thread_id"]
        await api.runs.wait(id, "steps", input={"text": "a"}, durability=durability)
        equal(len(await api.threads.get_history(id)), checkpoints)


async def test_recursion_limit(url):
    api = client(url)
    id = (await api.threads.create())["thread_id"]
    failed = await api.runs.wait(id, "slow", input={"ticks": 9}, config={"recursion_limit": 2}, raise_error=False)
    assert "__error__" in failed, failed
    equal((await api.threads.get_state(id))["values"]["done"], [8, 7])
