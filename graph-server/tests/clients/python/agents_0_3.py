"""The last client of A2A 0.3. Its package has the name of the current one, so it runs in a Python of its own."""

import uuid

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.client.errors import A2AClientJSONRPCError
from a2a.types import DataPart, Message, Part, Role, TaskIdParams, TaskQueryParams, TaskState, TextPart

ROOT = uuid.UUID("6ba7b821-9dad-11d1-80b4-00c04fd430c8")


def equal(found, expected):
    assert found == expected, f"\n   found {found!r}\nexpected {expected!r}"


async def agent(url, graph, http, streaming=False):
    card = await A2ACardResolver(http, f"{url}/a2a/{uuid.uuid5(ROOT, graph)}").get_agent_card()
    return ClientFactory(ClientConfig(httpx_client=http, streaming=streaming)).create(card)


async def send(client, part, **ids):
    """Sends a message, and returns the task as the client knows it in the end, and the events."""
    part = TextPart(text=part) if isinstance(part, str) else DataPart(data=part)
    message = Message(role=Role.user, message_id=str(uuid.uuid4()), parts=[Part(root=part)], **ids)
    items = [item async for item in client.send_message(message)]
    return items[-1][0], [event for _, event in items]


async def test_send_and_stream(url):
    async with httpx.AsyncClient(timeout=20) as http:
        for streaming in (False, True):
            client = await agent(url, "chat", http, streaming)
            task, events = await send(client, "hi")
            equal(task.status.state, TaskState.completed)
            equal(task.artifacts[0].parts[0].root.text, "Hello, you said: hi")
            assert len(events) > 3 if streaming else events == [None], events
            found = await client.get_task(TaskQueryParams(id=task.id))
            equal(found.artifacts, task.artifacts)


async def test_question(url):
    async with httpx.AsyncClient(timeout=20) as http:
        for streaming in (False, True):
            client = await agent(url, "approval", http, streaming)
            task, _ = await send(client, {"item": "tea"})
            equal(task.status.state, TaskState.input_required)
            equal(task.artifacts[0].name, "Interrupt")
            equal(task.artifacts[0].parts[0].root.data["interrupts"][0]["value"], {"item": "tea"})
            done, _ = await send(client, "true", task_id=task.id, context_id=task.context_id)
            equal((done.id, done.status.state), (task.id, TaskState.completed))


async def test_cancel_and_errors(url):
    async with httpx.AsyncClient(timeout=20) as http:
        client = await agent(url, "slow", http, streaming=True)
        part = Part(root=DataPart(data={"ticks": 500}))
        message = Message(role=Role.user, message_id="m-1", parts=[part])
        async for task, _ in client.send_message(message):
            break
        cancelled = await client.cancel_task(TaskIdParams(id=task.id))
        equal((cancelled.id, cancelled.status.state), (task.id, TaskState.canceled))
        for code, call in [
            (-32002, client.cancel_task(TaskIdParams(id=task.id))),
            (-32001, client.get_task(TaskQueryParams(id="none"))),
        ]:
            try:
                await call
            except A2AClientJSONRPCError as error:
                equal(error.error.code, code)
            else:
                raise AssertionError(code)
