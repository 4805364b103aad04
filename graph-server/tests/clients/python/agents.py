"""The client of A2A 1.0, in both versions of the protocol that it speaks."""

import uuid
from contextlib import asynccontextmanager

import httpx
from a2a.client import ClientConfig, ClientFactory
from a2a.client.card_resolver import A2ACardResolver
from a2a.helpers.proto_helpers import get_data_parts, get_text_parts, new_data_part, new_text_part
from a2a.types.a2a_pb2 import (
    CancelTaskRequest,
    GetTaskRequest,
    ListTasksRequest,
    Message,
    Role,
    SendMessageRequest,
    SubscribeToTaskRequest,
    TaskState,
)
from a2a.utils.errors import InvalidParamsError, TaskNotCancelableError, TaskNotFoundError
from checks import default_assistant, equal

VERSIONS = ["1.0", "0.3"]


@asynccontextmanager
async def agent(url, graph, version="1.0", streaming=False):
    """A client of a graph's assistant, which speaks one version."""
    async with httpx.AsyncClient(timeout=20) as http:
        card = await A2ACardResolver(http, f"{url}/a2a/{default_assistant(graph)}").get_agent_card()
        interfaces = [interface for interface in card.supported_interfaces if interface.protocol_version == version]
        del card.supported_interfaces[:]
        card.supported_interfaces.extend(interfaces)
        yield ClientFactory(ClientConfig(httpx_client=http, streaming=streaming)).create(card)


def message(*parts, task=None, context=None):
    parts = [new_text_part(part) if isinstance(part, str) else new_data_part(part) for part in parts]
    ids = {"task_id": task} if task else {}
    if context:
        ids["context_id"] = context
    return Message(role=Role.ROLE_USER, message_id=str(uuid.uuid4()), parts=parts, **ids)


async def send(client, *parts, at_once=False, **ids):
    """Sends a message, and returns everything that comes back."""
    request = SendMessageRequest(message=message(*parts, **ids))
    request.configuration.return_immediately = at_once
    return [item async for item in client.send_message(request)]


def state(task):
    return TaskState.Name(task.status.state).removeprefix("TASK_STATE_").lower()


async def fails(kind, awaitable):
    try:
        found = await awaitable
    except kind as error:
        return str(error)
    raise AssertionError(f"expected {kind}, found {found!r}")


async def test_card(url):
    async with httpx.AsyncClient() as http:
        id = default_assistant("chat")
        card = await A2ACardResolver(http, url).get_agent_card(
            relative_card_path=f".well-known/agent-card.json?assistant_id={id}"
        )
    equal((card.name, card.skills[0].tags[0]), ("chat", "chat"))
    equal([each.protocol_version for each in card.supported_interfaces], VERSIONS)
    equal({each.url for each in card.supported_interfaces}, {f"{url}/a2a/{id}"})
    assert card.capabilities.streaming and not card.capabilities.push_notifications, card


async def test_send(url):
    for version in VERSIONS:
        async with agent(url, "chat", version) as client:
            (answer,) = await send(client, "hi")
            task = answer.task
            equal((state(task), task.id), ("completed", f"{task.context_id}:{task.id.split(':')[1]}"))
            equal([get_text_parts(each.parts) for each in task.artifacts], [["Hello, you said: hi"]])
            equal([get_text_parts(each.parts) for each in task.history], [["hi"]])
            # The next message of the context is another task of the same conversation.
            (answer,) = await send(client, "six times seven", context=task.context_id)
            equal(get_text_parts(answer.task.artifacts[0].parts), ["It is 42."])
            equal(answer.task.context_id, task.context_id)
            assert answer.task.id != task.id


async def test_stream(url):
    for version in VERSIONS:
        async with agent(url, "chat", version, streaming=True) as client:
            items = await send(client, "hi")
            kinds = [item.WhichOneof("payload") for item in items]
            equal((kinds[0], kinds[-2:]), ("task", ["artifact_update", "status_update"]))
            equal(set(kinds[1:-2]), {"status_update"})
            equal(state(items[0].task), "submitted")
            working = [item.status_update for item in items[1:-2]]
            equal({state(update) for update in working}, {"working"})
            texts = [get_text_parts(update.status.message.parts)[0] for update in working]
            assert all(later.startswith(earlier) for earlier, later in zip(texts, texts[1:])), texts
            equal(get_text_parts(items[-2].artifact_update.artifact.parts), ["Hello, you said: hi"])
            assert items[-2].artifact_update.last_chunk
            equal(state(items[-1].status_update), "completed")
            equal({items[0].task.id}, {item.status_update.task_id for item in items if item.HasField("status_update")})


async def test_data(url):
    for version in VERSIONS:
        async with agent(url, "steps", version) as client:
            (answer,) = await send(client, {"text": "a"})
            equal(get_data_parts(answer.task.artifacts[0].parts), [{"text": "a", "log": ["one a", "two a"]}])
            assert "hidden" not in str(answer)
            text = await fails(InvalidParamsError, send(client, "a"))
            assert "messages" in text, text
            (answer,) = await send(client, {"text": "boom"})
            equal(state(answer.task), "failed")
            assert "boom" in get_text_parts(answer.task.status.message.parts)[0], answer


async def test_get(url):
    for version in VERSIONS:
        async with agent(url, "chat", version) as client:
            (answer,) = await send(client, "hi")
            found = await client.get_task(GetTaskRequest(id=answer.task.id))
            equal(found.artifacts, answer.task.artifacts)
            equal((found.id, state(found), len(found.history)), (answer.task.id, "completed", 1))
            unknown = f"{found.context_id}:{uuid.uuid4()}"
            await fails(TaskNotFoundError, client.get_task(GetTaskRequest(id=unknown)))


async def test_cancel(url):
    for version in VERSIONS:
        async with agent(url, "slow", version) as client:
            (answer,) = await send(client, {"ticks": 500}, at_once=True)
            assert state(answer.task) in ("submitted", "working"), answer
            cancelled = await client.cancel_task(CancelTaskRequest(id=answer.task.id))
            equal((cancelled.id, state(cancelled)), (answer.task.id, "canceled"))
            await fails(TaskNotCancelableError, client.cancel_task(CancelTaskRequest(id=answer.task.id)))


async def test_subscribe(url):
    for version in VERSIONS:
        async with agent(url, "slow", version, streaming=True) as client:
            request = SendMessageRequest(message=message({"ticks": 20}))
            async for item in client.send_message(request):
                task = item.task.id
                break
            items = [item async for item in client.subscribe(SubscribeToTaskRequest(id=task))]
            equal(items[0].task.id, task)
            equal(state(items[-1].status_update), "completed")


async def test_input_required(url):
    for version in VERSIONS:
        for streaming in (False, True):
            async with agent(url, "approval", version, streaming) as client:
                items = await send(client, {"item": "tea"})
                last = items[-1].status_update if streaming else items[-1].task
                equal(state(last), "input_required")
                task = last.task_id if streaming else last.id
                question = get_data_parts(last.status.message.parts)[0]["interrupts"][0]
                equal(question["value"], {"item": "tea"})
                await fails(InvalidParamsError, send(client, "perhaps", task=task))
                # A text that is the JSON of the answer, or data by the id of the question.
                answer = "true" if streaming else {question["id"]: True}
                items = await send(client, answer, task=task)
                last = items[-1].status_update if streaming else items[-1].task
                equal((state(last), last.task_id if streaming else last.id), ("completed", task))
                found = await client.get_task(GetTaskRequest(id=task))
                equal(get_data_parts(found.artifacts[0].parts)[0]["log"], ["approved true", "shipped tea"])
                equal(len(found.history), 2)


async def test_list(url):
    async with agent(url, "chat") as client:
        (first,) = await send(client, "one")
        context = first.task.context_id
        (second,) = await send(client, "two", context=context)
        tasks = await client.list_tasks(ListTasksRequest(context_id=context, include_artifacts=True))
        equal([task.id for task in tasks.tasks], [second.task.id, first.task.id])
        equal((tasks.total_size, tasks.next_page_token), (2, ""))
        equal(tasks.tasks[0].artifacts, second.task.artifacts)
        page = await client.list_tasks(ListTasksRequest(context_id=context, page_size=1))
        rest = await client.list_tasks(
            ListTasksRequest(context_id=context, page_size=1, page_token=page.next_page_token)
        )
        equal([each.tasks[0].id for each in (page, rest)], [second.task.id, first.task.id])
        failed = await client.list_tasks(
            ListTasksRequest(context_id=context, status=TaskState.TASK_STATE_FAILED)
        )
        equal(failed.total_size, 0)
