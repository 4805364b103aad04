import asyncio

from checks import UNKNOWN, client, collect, contains, equal, events, refused

LONG = {"ticks": 500}


async def started(url, **options):
    """A thread with a run that has begun."""
    api = client(url)
    id = (await api.threads.create())["thread_id"]
    run = await api.runs.create(id, "slow", input=LONG, config={"recursion_limit": 1000}, **options)
    while not (await api.threads.get_state(id))["values"].get("done"):
        await asyncio.sleep(0.01)
    return api, id, run["run_id"]


async def test_interrupt(url):
    api, id, run = await started(url)
    contains(await api.threads.get(id), status="busy")
    contains(await api.runs.get(id, run), status="running")
    await api.runs.cancel(id, run, wait=True)
    contains(await api.runs.get(id, run), status="interrupted")
    contains(await api.threads.get(id), status="interrupted")
    assert (await api.threads.get_state(id))["values"]["done"]
    await refused(404, api.runs.cancel(id, run))
    await refused(404, api.runs.cancel(id, UNKNOWN))


async def test_rollback(url):
    api = client(url)
    id = (await api.threads.create())["thread_id"]
    await api.runs.wait(id, "slow", input={"ticks": 1})
    before = await api.threads.get_history(id)
    run = (await api.runs.create(id, "slow", input=LONG, config={"recursion_limit": 1000}))["run_id"]
    while len(await api.threads.get_history(id)) < len(before) + 3:
        await asyncio.sleep(0.01)
    await api.runs.cancel(id, run, wait=True, action="rollback")
    await refused(404, api.runs.get(id, run))
    contains(await api.threads.get(id), status="idle")
    equal(await api.threads.get_history(id), before)


async def test_cancel_many(url):
    api, id, run = await started(url)
    waiting = (await api.runs.create(id, "slow", input={"ticks": 1}))["run_id"]
    await api.runs.cancel_many(thread_id=id, run_ids=[run, waiting])
    for one in [run, waiting]:
        while (await api.runs.get(id, one))["status"] in ("pending", "running"):
            await asyncio.sleep(0.01)
        contains(await api.runs.get(id, one), status="interrupted")


async def test_reject(url):
    api, id, run = await started(url)
    await refused(409, api.runs.create(id, "slow", input=LONG, multitask_strategy="reject"))
    await refused(409, api.threads.update_state(id, {"ticks": 1}, as_node="tick"))
    await api.runs.cancel(id, run, wait=True)


async def test_interrupting_strategy(url):
    api, id, run = await started(url)
    values = await api.runs.wait(id, "slow", input={"ticks": 1}, multitask_strategy="interrupt")
    equal(values["done"][-1], 0)
    assert len(values["done"]) > 1, values
    contains(await api.runs.get(id, run), status="interrupted")


async def test_rollback_strategy(url):
    api, id, run = await started(url)
    values = await api.runs.wait(id, "slow", input={"ticks": 1}, multitask_strategy="rollback")
    equal(values["done"], [0])
    await refused(404, api.runs.get(id, run))


async def test_enqueue(url):
    api = client(url)
    id = (await api.threads.create())["thread_id"]
    runs = [(await api.runs.create(id, "steps", input={"text": text}))["run_id"] for text in "abc"]
    values = await api.runs.join(id, runs[-1])
    equal(values["log"], ["one a", "two a", "one b", "two b", "one c", "two c"])


async def test_disconnect(url):
    api = client(url)
    for on_disconnect, status in [("cancel", "interrupted"), ("continue", "success")]:
        id = (await api.threads.create())["thread_id"]
        stream = api.runs.stream(
            id, "slow", input={"ticks": 40}, on_disconnect=on_disconnect, config={"recursion_limit": 1000}
        )
        async for part in stream:
            if part.event == "values":
                break
        await stream.aclose()
        run = (await api.runs.list(id))[0]["run_id"]
        while (await api.runs.get(id, run))["status"] in ("pending", "running"):
            await asyncio.sleep(0.01)
        contains(await api.runs.get(id, run), status=status)


async def test_cancelled_stream_closes(url):
    api = client(url)
    id = (await api.threads.create())["thread_id"]

    async def cancel():
        while not (runs := await api.runs.list(id, status="running")):
            await asyncio.sleep(0.01)
        await api.runs.cancel(id, runs[0]["run_id"], wait=True)

    cancelling = asyncio.create_task(cancel())
    parts = await collect(api.runs.stream(id, "slow", input=LONG, config={"recursion_limit": 1000}))
    await cancelling
    assert "error" not in events(parts), parts[-1]
