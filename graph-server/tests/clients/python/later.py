from datetime import UTC, datetime

from checks import UNKNOWN, client, contains, default_assistant, equal, refused


async def test_batch(url):
    api = client(url)
    batch = [{"assistant_id": "steps", "input": {"text": text}, "on_completion": "keep"} for text in "ab"]
    runs = await api.runs.create_batch(batch)
    equal([run["status"] for run in runs], ["pending", "pending"])
    for run, text in zip(runs, "ab"):
        values = await api.runs.join(run["thread_id"], run["run_id"])
        equal(values["log"], [f"one {text}", f"two {text}"])
    await refused(422, api.runs.create_batch([*batch, {"assistant_id": "steps", "input": {"text": 1}}]))


async def test_after_seconds(url):
    api = client(url)
    id = (await api.threads.create())["thread_id"]
    later = await api.runs.create(id, "steps", input={"text": "late"}, after_seconds=3600)
    soon = await api.runs.wait(id, "steps", input={"text": "soon"}, after_seconds=1)
    equal(soon["log"], ["one soon", "two soon"])
    contains(await api.runs.get(id, later["run_id"]), status="pending")
    await api.runs.cancel(id, later["run_id"], wait=True)
    contains(await api.runs.get(id, later["run_id"]), status="interrupted")


async def test_crons(url):
    api = client(url)
    id = (await api.threads.create())["thread_id"]
    end = datetime(2199, 1, 1, tzinfo=UTC)
    made = await api.crons.create(
        "steps", schedule="0 9 * * 1", input={"text": "a"}, metadata={"of": "python"}, timezone="Asia/Tokyo", end_time=end
    )
    contains(made, assistant_id=default_assistant("steps"), thread_id=None, schedule="0 9 * * 1", timezone="Asia/Tokyo")
    contains(made, enabled=True, metadata={"of": "python"}, user_id=None)
    assert "T00:00:00" in made["next_run_date"], made
    equal(made["payload"]["input"], {"text": "a"})
    on_thread = await api.crons.create_for_thread(id, "steps", schedule="0 0 1 1 *", input={"text": "b"}, enabled=False)
    contains(on_thread, thread_id=id, enabled=False)

    async def found(**query):
        return [cron["cron_id"] for cron in await api.crons.search(**query)]

    equal(await found(thread_id=id), [on_thread["cron_id"]])
    equal(await found(metadata={"of": "python"}), [made["cron_id"]])
    equal(await api.crons.count(thread_id=id), 1)
    changed = await api.crons.update(made["cron_id"], schedule="30 6 * * *", enabled=False, end_time=None)
    contains(changed, schedule="30 6 * * *", enabled=False, end_time=None, cron_id=made["cron_id"])
    for cron in (made, on_thread):
        await api.crons.delete(cron["cron_id"])
    equal(await found(thread_id=id), [])
    await refused(404, api.crons.delete(made["cron_id"]))
    await refused(422, api.crons.create("steps", schedule="every day", input={"text": "a"}))
    await refused(404, api.crons.create_for_thread(UNKNOWN, "steps", schedule="0 0 * * *", input={"text": "a"}))
