from checks import UNKNOWN, client, contains, default_assistant, equal, refused


async def test_default_assistants(url):
    api = client(url).assistants
    found = await api.search(graph_id="steps")
    equal(len(found), 1)
    contains(found[0], assistant_id=default_assistant("steps"), name="steps", version=1, config={}, context={})
    equal(found[0]["metadata"], {"created_by": "system"})
    equal(await api.get(default_assistant("steps")), found[0])
    equal(await api.get("steps"), found[0])
    await refused(404, api.get(UNKNOWN))


async def test_lifecycle(url):
    api = client(url).assistants
    made = await api.create("steps", name="mine", metadata={"a": 1}, context={"x": 1}, description="d")
    contains(made, graph_id="steps", name="mine", metadata={"a": 1}, context={"x": 1}, description="d", version=1)
    id = made["assistant_id"]
    await refused(409, api.create("steps", assistant_id=id))
    equal(await api.create("steps", assistant_id=id, if_exists="do_nothing"), made)
    await refused(404, api.create("no such graph"))
    changed = await api.update(id, name="second", metadata={"b": 2})
    contains(changed, name="second", metadata={"a": 1, "b": 2}, version=2)
    versions = await api.get_versions(id)
    equal([version["version"] for version in versions], [2, 1])
    contains(await api.set_latest(id, 1), name="mine", version=1)
    equal(await api.count(metadata={"a": 1}), 1)
    await api.delete(id)
    await refused(404, api.get(id))


async def test_search(url):
    api = client(url).assistants
    for name in ["red", "green", "blue"]:
        await api.create("steps", name=name, metadata={"suite": "search"})
    found = await api.search(metadata={"suite": "search"}, sort_by="name", sort_order="asc")
    equal([assistant["name"] for assistant in found], ["blue", "green", "red"])
    page = await api.search(metadata={"suite": "search"}, limit=2, response_format="object")
    equal((len(page["assistants"]), page["next"]), (2, "2"))
    page = await api.search(metadata={"suite": "search"}, limit=2, offset=2, response_format="object")
    equal((len(page["assistants"]), page["next"]), (1, None))
    found = await api.search(metadata={"suite": "search"}, name="gree", select=["name"])
    equal(found, [{"name": "green"}])


async def test_graph(url):
    api = client(url).assistants
    graph = await api.get_graph("parent")
    equal([node["id"] for node in graph["nodes"]], ["__start__", "child", "last", "__end__"])
    graph = await api.get_graph("parent", xray=True)
    equal([node["id"] for node in graph["nodes"]], ["__start__", "child:one", "child:two", "last", "__end__"])
    assert {"source": "child:two", "target": "last"} in graph["edges"], graph
    schemas = await api.get_schemas("steps")
    equal(schemas["input_schema"]["required"], ["text"])
    assert "secret" not in str(schemas)
    equal(list(await api.get_subgraphs("parent")), ["child"])
    equal(list(await api.get_subgraphs("parent", namespace="child", recurse=True)), ["child"])
