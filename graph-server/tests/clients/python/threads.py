from checks import UNKNOWN, client, contains, equal, refused


async def test_lifecycle(url):
    api = client(url).threads
    made = await api.create(metadata={"user": "ann"})
    contains(made, metadata={"user": "ann"}, status="idle", values=None)
    id = made["thread_id"]
    equal(await api.get(id), made)
    await refused(409, api.create(thread_id=id))
    equal(await api.create(thread_id=id, if_exists="do_nothing"), made)
    contains(await api.update(id, metadata={"title": "tea"}), metadata={"user": "ann", "title": "tea"})
    equal(await api.update(id, metadata={}, return_minimal=True), None)
    await api.delete(id)
    await refused(404, api.get(id))
    await refused(404, api.delete(id))
    await refused(404, api.get(UNKNOWN))
    await refused(422, api.get("tea"))


async def test_time_to_live(url):
    api = client(url).threads
    made = await api.create(ttl=5)
    ttl = (await api.get(made["thread_id"], include=["ttl"]))["ttl"]
    contains(ttl, strategy="delete", ttl_minutes=5)


async def test_supersteps(url):
    api = client(url).threads
    steps = [
        {"updates": [{"values": {"text": "tea"}, "as_node": "__start__"}]},
        {"updates": [{"values": {"log": ["one tea"]}, "as_node": "one"}]},
    ]
    made = await api.create(graph_id="steps", supersteps=steps)
    state = await api.get_state(made["thread_id"])
    contains(state, values={"text": "tea", "log": ["one tea"]}, next=["two"])


async def test_search(url):
    api, runs = client(url).threads, client(url).runs
    ids = []
    for n in range(3):
        ids.append((await api.create(metadata={"suite": "threads", "n": n}))["thread_id"])
    await runs.wait(ids[0], "steps", input={"text": "tea"})

    async def search(**options):
        found = await api.search(metadata={"suite": "threads"}, **options)
        return [thread["metadata"]["n"] for thread in found]

    equal(await search(), [0, 2, 1])
    equal(await search(sort_by="created_at", sort_order="asc"), [0, 1, 2])
    equal(await search(limit=1, offset=1), [2])
    equal(await search(status="idle"), [0, 2, 1])
    equal(await search(status="busy"), [])
    equal(await search(ids=[ids[1], UNKNOWN]), [1])
    equal(await search(values={"text": "tea"}), [0])
    found = await api.search(metadata={"graph_id": "steps", "n": 0}, extract={"first": "values.log[0]"})
    equal(found[0]["extracted"], {"first": "one tea"})
    equal(found[0]["values"], {"text": "tea", "log": ["one tea", "two tea"]})
    equal(await api.search(ids=[ids[1]], select=["thread_id"]), [{"thread_id": ids[1]}])
    equal(await api.count(metadata={"suite": "threads"}), 3)
    equal(await api.count(metadata={"suite": "threads"}, values={"text": "tea"}), 1)


async def test_copy_and_prune(url):
    api, runs = client(url).threads, client(url).runs
    id = (await api.create())["thread_id"]
    await runs.wait(id, "steps", input={"text": "tea"})
    history = await api.get_history(id)
    await api.copy(id)
    copied = (await api.search(metadata={"graph_id": "steps"}, limit=1))[0]
    assert copied["thread_id"] != id
    contains(copied, status="idle", values={"text": "tea", "log": ["one tea", "two tea"]})
    equal(len(await api.get_history(copied["thread_id"])), len(history))
    equal(await api.prune([copied["thread_id"]], strategy="keep_latest"), {"pruned_count": 1})
    equal(len(await api.get_history(copied["thread_id"])), 1)
    equal(await api.prune([copied["thread_id"], UNKNOWN]), {"pruned_count": 1})
    await refused(404, api.get(copied["thread_id"]))
