import assert from "node:assert/strict";

const UNKNOWN = "00000000-0000-7000-8000-000000000000";

async function collect(stream) {
  const parts = [];
  for await (const part of stream) parts.push(part);
  return parts;
}

const data = (parts, event) => parts.filter((part) => part.event === event).map((part) => part.data);

async function refused(status, promise) {
  await assert.rejects(promise, (error) => {
    assert.match(`${error.status ?? ""} ${error.message}`, new RegExp(status));
    return true;
  });
}

async function thread(client) {
  return (await client.threads.create()).thread_id;
}

async function until(condition) {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 10));
}

export const suite = {
  async assistants({ assistants }) {
    const [found] = await assistants.search({ graphId: "steps", metadata: { created_by: "system" } });
    assert.deepEqual(await assistants.get(found.assistant_id), found);
    const made = await assistants.create({ graphId: "steps", name: "js", metadata: { suite: "js" } });
    const { version } = await assistants.update(made.assistant_id, { name: "second" });
    assert.equal(version, 2);
    const versions = await assistants.getVersions(made.assistant_id);
    assert.deepEqual(versions.map((one) => one.version), [2, 1]);
    assert.equal((await assistants.setLatest(made.assistant_id, 1)).name, "js");
    assert.equal(await assistants.count({ metadata: { suite: "js" } }), 1);
    const selected = await assistants.search({ metadata: { suite: "js" }, select: ["name"], sortBy: "name" });
    assert.deepEqual(selected, [{ name: "js" }]);
    await assistants.delete(made.assistant_id);
    await refused(404, assistants.get(made.assistant_id));
  },

  async joined_thread({ threads, runs }) {
    const id = (await threads.create()).thread_id;
    const names = [];
    const joining = (async () => {
      for await (const part of threads.joinStream(id, { streamMode: ["lifecycle"] })) {
        names.push(part.data.status ?? "started");
        if (part.data.status) return;
      }
    })();
    let joined = false;
    joining.then(() => (joined = true));
    // The stream begins with the first run after it was joined.
    while (!joined) await runs.wait(id, "steps", { input: { text: "a" } });
    assert.equal(names.at(-1), "run_done");
  },

  async graphs({ assistants }) {
    const graph = await assistants.getGraph("parent", { xray: true });
    assert.deepEqual(
      graph.nodes.map((node) => node.id),
      ["__start__", "child:one", "child:two", "last", "__end__"],
    );
    assert.deepEqual((await assistants.getSchemas("steps")).input_schema.required, ["text"]);
    assert.deepEqual(Object.keys(await assistants.getSubgraphs("parent", { recurse: true })), ["child"]);
  },

  async threads(client) {
    const { threads } = client;
    const made = await threads.create({ metadata: { suite: "js" }, ttl: 5 });
    const id = made.thread_id;
    assert.deepEqual(await threads.get(id), made);
    await refused(409, threads.create({ threadId: id, ifExists: "raise" }));
    assert.deepEqual(await threads.create({ threadId: id, ifExists: "do_nothing" }), made);
    await threads.update(id, { metadata: { title: "tea" } });
    await client.runs.wait(id, "steps", { input: { text: "tea" } });
    const [found] = await threads.search({
      metadata: { suite: "js" },
      status: "idle",
      sortBy: "updated_at",
      extract: { first: "values.log[0]" },
    });
    assert.equal(found.thread_id, id);
    assert.equal(found.metadata.title, "tea");
    assert.deepEqual(found.values, { text: "tea", log: ["one tea", "two tea"] });
    const selected = await threads.search({ metadata: { suite: "js" }, select: ["thread_id"] });
    assert.deepEqual(selected, [{ thread_id: id }]);
    assert.equal(await threads.count({ metadata: { suite: "js" } }), 1);
    const copy = await threads.copy(id);
    assert.deepEqual(copy.values, found.values);
    if (threads.prune) await threads.prune([copy.thread_id], { strategy: "keep_latest" });
    await threads.delete(id);
    await refused(404, threads.get(id));
  },

  async supersteps({ threads }) {
    const updates = [{ values: { text: "tea" }, asNode: "__start__" }];
    const { thread_id } = await threads.create({ graphId: "steps", supersteps: [{ updates }] });
    assert.deepEqual((await threads.getState(thread_id)).next, ["one"]);
  },

  async states(client) {
    const { threads, runs } = client;
    const id = await thread(client);
    assert.deepEqual((await threads.getState(id)).values, {});
    await runs.wait(id, "steps", { input: { text: "a" } });
    const state = await threads.getState(id);
    assert.deepEqual(state.values, { text: "a", log: ["one a", "two a"] });
    const history = await threads.getHistory(id, { limit: 10 });
    assert.deepEqual(history.map((one) => one.metadata.step), [2, 1, 0, -1]);
    const older = await threads.getHistory(id, { before: { configurable: history[1].checkpoint } });
    assert.deepEqual(older.map((one) => one.metadata.step), [0, -1]);
    assert.deepEqual((await threads.getState(id, history[1].checkpoint)).next, ["two"]);
    assert.deepEqual((await threads.getState(id, history[1].checkpoint.checkpoint_id)).next, ["two"]);
    await threads.updateState(id, { values: { log: ["by hand"] }, asNode: "one" });
    const after = await runs.wait(id, "steps", { input: null });
    assert.deepEqual(after.log, ["one a", "two a", "by hand", "two a"]);
    const forked = await runs.wait(id, "steps", { input: null, checkpointId: history[2].checkpoint.checkpoint_id });
    assert.deepEqual(forked.log, ["one a", "two a"]);
  },

  async runs(client) {
    const { runs } = client;
    const id = await thread(client);
    let created;
    const run = await runs.create(id, "steps", { input: { text: "a" }, onRunCreated: (params) => (created = params) });
    assert.deepEqual(created, { run_id: run.run_id, thread_id: id });
    assert.deepEqual((await runs.join(id, run.run_id)).log, ["one a", "two a"]);
    assert.equal((await runs.get(id, run.run_id)).status, "success");
    assert.deepEqual((await runs.list(id, { limit: 5 })).map((one) => one.run_id), [run.run_id]);
    assert.deepEqual(await runs.list(id, { select: ["run_id"] }), [{ run_id: run.run_id }]);
    await runs.delete(id, run.run_id);
    await refused(404, runs.get(id, run.run_id));
    // The client has no way to keep the thread of such a run.
    const stateless = await runs.create(null, "steps", { input: { text: "b" } });
    assert.equal(stateless.status, "pending");
    assert.deepEqual((await runs.wait(null, "steps", { input: { text: "c" } })).log, ["one c", "two c"]);
    await refused(422, runs.wait(id, "steps", { input: { text: 1 } }));
    await refused(404, runs.wait(UNKNOWN, "steps", { input: { text: "a" } }));
    const failed = await runs.wait(id, "steps", { input: { text: "boom" }, raiseError: false });
    assert.match(failed.__error__.message, /boom/);
  },

  async streams(client) {
    const { runs } = client;
    let created;
    const parts = await collect(
      runs.stream(null, "steps", {
        input: { text: "a" },
        streamMode: ["values", "updates", "custom"],
        onRunCreated: (params) => (created = params),
      }),
    );
    assert.equal(parts[0].event, "metadata");
    assert.equal(parts[0].data.run_id, created.run_id);
    assert.deepEqual(data(parts, "updates"), [{ one: { log: ["one a"] } }, { two: { log: ["two a"] } }]);
    assert.deepEqual(data(parts, "custom"), [{ "working on": "a" }]);
    assert.deepEqual(data(parts, "values").at(-1), { text: "a", log: ["one a", "two a"] });
    const inner = await collect(
      runs.stream(null, "parent", { input: { text: "a" }, streamMode: "updates", streamSubgraphs: true }),
    );
    assert.deepEqual(
      inner.map((part) => part.event.split(":")[0]),
      ["metadata", "updates|child", "updates|child", "updates", "updates"],
    );
    const failing = await collect(runs.stream(null, "steps", { input: { text: "boom" }, streamMode: "updates" }));
    assert.equal(failing.at(-1).event, "error");
    assert.match(failing.at(-1).data.message, /boom/);
  },

  async messages(client) {
    const input = { messages: [{ type: "human", content: "six times seven" }] };
    const parts = await collect(
      client.runs.stream(null, "chat", { input, streamMode: ["messages-tuple", "values"] }),
    );
    const final = data(parts, "values").at(-1).messages;
    assert.deepEqual(final.map((message) => message.type), ["human", "ai", "tool", "ai"]);
    const chunks = data(parts, "messages").map(([chunk]) => chunk);
    const last = chunks.filter((chunk) => chunk.id === final[3].id);
    assert.equal(last.map((chunk) => chunk.content).join(""), "It is 42.");
    assert.ok(chunks.some((chunk) => chunk.type === "tool" && chunk.content === "42"));
  },

  async resumed_streams(client) {
    const { runs } = client;
    const id = await thread(client);
    const parts = await collect(
      runs.stream(id, "steps", { input: { text: "a" }, streamMode: ["updates"], streamResumable: true }),
    );
    const run = parts[0].data.run_id;
    const whole = await collect(runs.joinStream(id, run, { lastEventId: "-1" }));
    assert.deepEqual(whole.map((part) => part.data), parts.map((part) => part.data));
    const rest = await collect(runs.joinStream(id, run, { lastEventId: parts[1].id, streamMode: ["updates"] }));
    assert.deepEqual(rest.map((part) => part.data), parts.slice(2).map((part) => part.data));
  },

  async interrupts(client) {
    const { runs, threads } = client;
    const id = await thread(client);
    const stopped = await runs.wait(id, "approval", { input: { item: "tea" } });
    assert.deepEqual(stopped.__interrupt__[0].value, { item: "tea" });
    assert.equal((await threads.get(id)).status, "interrupted");
    const state = await threads.getState(id);
    assert.equal(state.tasks[0].interrupts[0].id, stopped.__interrupt__[0].id);
    const parts = await collect(runs.stream(id, "approval", { command: { resume: true }, streamMode: "values" }));
    assert.deepEqual(data(parts, "values").at(-1).log, ["approved true", "shipped tea"]);
    assert.equal((await threads.get(id)).status, "idle");
  },

  async cancelling(client) {
    const { runs, threads } = client;
    const id = await thread(client);
    const input = { ticks: 500 };
    const config = { recursion_limit: 1000 };
    const running = async () => (await threads.getState(id)).values?.done?.length;
    const run = await runs.create(id, "slow", { input, config });
    await until(running);
    await refused(409, runs.create(id, "slow", { input, multitaskStrategy: "reject" }));
    await runs.cancel(id, run.run_id, true, "interrupt");
    assert.equal((await runs.get(id, run.run_id)).status, "interrupted");
    const second = await runs.create(id, "slow", { input, config });
    await runs.cancel(id, second.run_id, true, "rollback");
    await refused(404, runs.get(id, second.run_id));
    // Only the newer line of the client has it.
    if (!runs.cancelMany) return;
    const many = [await runs.create(id, "slow", { input, config }), await runs.create(id, "slow", { input, config })];
    await runs.cancelMany({ threadId: id, runIds: many.map((one) => one.run_id), action: "interrupt" });
    for (const one of many) {
      await until(async () => (await runs.get(id, one.run_id)).status === "interrupted");
    }
  },

  async disconnecting(client) {
    const id = await thread(client);
    const abort = new AbortController();
    const stream = client.runs.stream(id, "slow", {
      input: { ticks: 500 },
      config: { recursion_limit: 1000 },
      onDisconnect: "cancel",
      signal: abort.signal,
    });
    try {
      for await (const part of stream) if (part.event === "values") abort.abort();
    } catch {
      // The client reports that it was aborted.
    }
    await until(async () => (await client.runs.list(id))[0].status === "interrupted");
  },

  async later(client) {
    const { runs, crons } = client;
    // The client renames only the assistant.
    const batch = ["a", "b"].map((text) => ({ assistantId: "steps", input: { text }, on_completion: "keep" }));
    const made = await runs.createBatch(batch);
    assert.equal(made.length, 2);
    assert.deepEqual((await runs.join(made[1].thread_id, made[1].run_id)).log, ["one b", "two b"]);
    const id = await thread(client);
    const late = await runs.create(id, "steps", { input: { text: "late" }, afterSeconds: 3600 });
    assert.deepEqual((await runs.wait(id, "steps", { input: { text: "soon" } })).log, ["one soon", "two soon"]);
    assert.equal((await runs.get(id, late.run_id)).status, "pending");
    await client.threads.patchState(id, { suite: "js" });
    assert.equal((await client.threads.get(id)).metadata.suite, "js");

    const cron = await crons.create("steps", { schedule: "0 9 * * 1", input: { text: "a" } });
    const onThread = await crons.createForThread(id, "steps", { schedule: "0 0 1 1 *", input: { text: "a" } });
    assert.deepEqual((await crons.search({ threadId: id })).map((one) => one.cron_id), [onThread.cron_id]);
    if (crons.count) assert.equal(await crons.count({ threadId: id }), 1);
    if (crons.update) assert.equal((await crons.update(cron.cron_id, { enabled: false })).enabled, false);
    for (const one of [cron, onThread]) await crons.delete(one.cron_id);
    await refused(404, crons.delete(cron.cron_id));
    await refused(422, crons.create("steps", { schedule: "every day", input: { text: "a" } }));
  },

  async items({ store }) {
    await store.putItem(["js", "ann"], "tea", { cups: 2 });
    const item = await store.getItem(["js", "ann"], "tea");
    assert.deepEqual([item.namespace, item.value], [["js", "ann"], { cups: 2 }]);
    assert.ok(item.createdAt && item.updatedAt);
    const found = await store.searchItems(["js"], { filter: { cups: 2 } });
    assert.deepEqual(found.items.map((one) => one.key), ["tea"]);
    assert.deepEqual((await store.listNamespaces({ prefix: ["js"] })).namespaces, [["js", "ann"]]);
    await store.deleteItem(["js", "ann"], "tea");
    assert.equal(await store.getItem(["js", "ann"], "tea"), null);
  },
};
