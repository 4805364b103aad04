from checks import client, contains, equal, refused


async def test_items(url):
    api = client(url).store
    await api.put_item(["users", "ann"], key="tea", value={"cups": 2})
    item = await api.get_item(["users", "ann"], key="tea")
    contains(item, namespace=["users", "ann"], key="tea", value={"cups": 2})
    assert item["created_at"] and item["updated_at"]
    await api.put_item(["users", "bob"], key="milk", value={"cups": 5})
    found = await api.search_items(["users"], filter={"cups": {"$gt": 2}})
    equal([item["key"] for item in found["items"]], ["milk"])
    equal(found["items"][0]["score"], None)
    found = await api.search_items(["users"], limit=1, offset=1)
    equal([item["key"] for item in found["items"]], ["milk"])
    equal(await api.list_namespaces(prefix=["users"]), {"namespaces": [["users", "ann"], ["users", "bob"]]})
    equal(await api.list_namespaces(max_depth=1), {"namespaces": [["users"]]})
    await api.delete_item(["users", "ann"], key="tea")
    equal(await api.get_item(["users", "ann"], key="tea"), None)
    await refused(422, api.put_item([], key="tea", value={}))
