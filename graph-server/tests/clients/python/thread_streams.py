"""`client.threads.stream`: thread protocol v2, over server-sent events and over a WebSocket."""

import asyncio

from checks import client, contains, equal

TRANSPORTS = ("sse", "websocket")


def question(text):
    return {"messages": [{"role": "user", "content": text}]}


async def interrupted(thread):
    while not thread.interrupted:
        await asyncio.sleep(0.005)


async def test_values_and_output(url):
    for transport in TRANSPORTS:
        async with client(url).threads.stream(assistant_id="steps", transport=transport) as thread:
            started = await thread.run.start(input={"text": "a"})
            assert started["run_id"]
            # The projection begins with the stored state.
            logs = [values["log"] async for values in thread.values]
            equal(logs[-3:], [[], ["one a"], ["one a", "two a"]])
            output = await thread.output
            equal(output, {"text": "a", "log": ["one a", "two a"]})


async def test_a_chat_turn_streams(url):
    for transport in TRANSPORTS:
        async with client(url).threads.stream(assistant_id="chat", transport=transport) as thread:
            await thread.run.start(input=question("What is 6 times 7?"))
            # The loop over the messages is what feeds them.
            messages = [message async for message in thread.messages]
            texts = [await message.text for message in messages]
            calls = [call for message in messages for call in await message.tool_calls]
            equal(texts, ["", "It is 42."])
            equal([(call["name"], call["args"]) for call in calls], [("multiply", {"left": 6, "right": 7})])


async def test_tool_calls(url):
    for transport in TRANSPORTS:
        async with client(url).threads.stream(assistant_id="chat", transport=transport) as thread:
            await thread.run.start(input=question("What is 6 times 7?"))
            calls = [call async for call in thread.tool_calls]
            found = [(call.name, call.input, (await call.output)["content"]) for call in calls]
            equal(found, [("multiply", {"left": 6, "right": 7}, "42")])


async def test_a_question_is_answered(url):
    for transport in TRANSPORTS:
        async with client(url).threads.stream(assistant_id="approval", transport=transport) as thread:
            await thread.run.start(input={"item": "tea"})
            await asyncio.wait_for(interrupted(thread), 10)
            contains(thread.interrupts[0], value={"item": "tea"}, namespace=[])
            await thread.run.respond(True)
            output = await thread.output
            equal(output["log"], ["approved true", "shipped tea"])


async def test_raw_events(url):
    channels = ["values", "updates", "custom", "tasks", "checkpoints", "lifecycle"]
    for transport in TRANSPORTS:
        async with client(url).threads.stream(assistant_id="steps", transport=transport) as thread:
            await thread.run.start(input={"text": "a"})
            methods = [event["method"] async for event in thread.subscribe(channels)]
            for method in channels:
                assert method in methods, (transport, methods)
            equal((methods[0], methods[-1]), ("lifecycle", "lifecycle"))


async def test_subgraphs(url):
    for transport in TRANSPORTS:
        async with client(url).threads.stream(assistant_id="parent", transport=transport) as thread:
            await thread.run.start(input={"text": "a"})
            # The loop over the subgraphs is what ends them.
            handles = [handle async for handle in thread.subgraphs]
            equal([(handle.graph_name, handle.status) for handle in handles], [("child", "completed")])


async def test_a_failure(url):
    async with client(url).threads.stream(assistant_id="steps") as thread:
        await thread.run.start(input={"text": "boom"})
        try:
            await thread.output
        except RuntimeError as error:
            assert "boom" in str(error), error
        else:
            raise AssertionError("the run failed")


async def test_a_fork(url):
    api = client(url)
    async with api.threads.stream(assistant_id="steps") as thread:
        await thread.run.start(input={"text": "a"})
        await thread.output
        first = (await api.threads.get_history(thread.thread_id))[-1]
        config = {"configurable": {"checkpoint_id": first["checkpoint"]["checkpoint_id"]}}
        await thread.run.start(input={"text": "b"}, config=config)
        texts = [values["text"] async for values in thread.values]
        equal(texts[-1], "b")
    state = await api.threads.get_state(thread.thread_id)
    equal(state["values"], {"text": "b", "log": ["one b", "two b"]})


async def test_refusals(url):
    async with client(url).threads.stream(assistant_id="steps") as thread:
        for input, text in (({"text": 1}, "text"), ({}, "text")):
            try:
                await thread.run.start(input=input)
            except RuntimeError as error:
                assert "invalid_argument" in str(error) and text in str(error), error
            else:
                raise AssertionError("the input is wrong")


async def test_reattach(url):
    api = client(url)
    async with api.threads.stream(assistant_id="steps") as thread:
        await thread.run.start(input={"text": "a"})
        await thread.output
    async with api.threads.stream(thread.thread_id, assistant_id="steps") as again:
        equal(await again.output, {"text": "a", "log": ["one a", "two a"]})
        methods = []
        async for event in again.subscribe(["values", "lifecycle"]):
            methods.append(event["method"])
        equal(methods, ["lifecycle", "values", "values", "values", "lifecycle"])


async def test_join_stream(url):
    """The classic stream of a thread, which goes over its runs."""
    api = client(url)
    thread = (await api.threads.create())["thread_id"]
    joined = asyncio.create_task(joined_until_done(api, thread))
    runs = []
    while not joined.done():
        # The stream begins with the first run after it was joined.
        runs.append((await api.runs.create(thread, "steps", input={"text": "a"}, stream_mode="updates"))["run_id"])
        await api.runs.join(thread, runs[-1])
    parts = await joined
    equal([part.event for part in parts][-4:], ["metadata", "updates", "updates", "metadata"])
    equal(parts[-1].data["status"], "run_done")
    assert parts[-1].data["run_id"] in runs
    again = await joined_until_done(api, thread, last_event_id=parts[-3].id)
    equal(again, parts[-2:])


async def joined_until_done(api, thread, **options):
    parts = []
    async for part in await api.threads.join_stream(thread, **options):
        parts.append(part)
        if part.event == "metadata" and part.data.get("status") == "run_done":
            return parts
