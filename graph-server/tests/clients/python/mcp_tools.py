"""The client of the Model Context Protocol."""

from checks import equal
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError


async def test_initialize_and_ping(url):
    async with Client(f"{url}/mcp", mode="legacy") as client:
        equal(client.server_info.name, "superstep-server")
        equal(client.protocol_version, "2025-11-25")
        assert client.server_capabilities.tools is not None
        await client.send_ping()


async def test_a_client_that_prefers_newer_versions(url):
    async with Client(f"{url}/mcp", mode="auto") as client:
        assert client.protocol_version, client
        assert (await client.list_tools()).tools


async def test_list(url):
    async with Client(f"{url}/mcp", mode="legacy") as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert {"steps", "chat", "approval", "slow", "parent", "greet"} <= set(tools), set(tools)
        steps = tools["steps"]
        equal(steps.input_schema["required"], ["text"])
        equal(set(steps.output_schema["properties"]), {"text", "log"})


async def test_call(url):
    async with Client(f"{url}/mcp", mode="legacy") as client:
        # The client checks the structured content against the output schema that it has listed.
        await client.list_tools()
        result = await client.call_tool("steps", {"text": "a"})
        equal(result.structured_content, {"text": "a", "log": ["one a", "two a"]})
        assert not result.is_error
        assert "one a" in result.content[0].text and "hidden" not in str(result), result
        result = await client.call_tool("chat", {"messages": [{"role": "user", "content": "six times seven"}]})
        equal(result.structured_content["messages"][-1]["content"], "It is 42.")


async def test_errors(url):
    async with Client(f"{url}/mcp", mode="legacy") as client:
        for tool, arguments, text in [
            ("steps", {"text": "boom"}, "boom"),
            ("steps", {"text": 5}, "text"),
            ("approval", {"item": "tea"}, "waits for answers"),
        ]:
            result = await client.call_tool(tool, arguments)
            assert result.is_error and text in result.content[0].text, result
        for call, code in [
            (lambda: client.call_tool("nothing", {}), -32602),
            (lambda: client.list_prompts(), -32601),
        ]:
            try:
                found = await call()
            except MCPError as error:
                equal(error.code, code)
            else:
                raise AssertionError(found)
