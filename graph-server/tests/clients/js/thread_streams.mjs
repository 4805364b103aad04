// `client.threads.stream`: thread protocol v2, over server-sent events and over a WebSocket. Versions before 1.9 do not have it.

import assert from "node:assert/strict";

async function collect(stream) {
  const parts = [];
  for await (const part of stream) parts.push(part);
  return parts;
}

async function until(condition) {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** Runs a test over each transport. */
function overEach(assistantId, test) {
  return async (client, context) => {
    for (const transport of ["sse", "websocket"]) {
      const webSocketFactory = context.WebSocket ? (url) => new context.WebSocket(url) : undefined;
      const thread = client.threads.stream({ assistantId, transport, webSocketFactory });
      try {
        await test(thread, client);
      } finally {
        await thread.close();
      }
    }
  };
}

const question = (content) => ({ messages: [{ role: "user", content }] });

export const threadStreams = {
  stream_values: overEach("steps", async (thread) => {
    const { run_id } = await thread.run.start({ input: { text: "a" } });
    assert.ok(run_id);
    const values = await collect(thread.values);
    assert.deepEqual(
      values.map((state) => state.log),
      [[], ["one a"], ["one a", "two a"]],
    );
    assert.deepEqual(await thread.output, { text: "a", log: ["one a", "two a"] });
  }),

  stream_chat: overEach("chat", async (thread) => {
    const messages = collect(thread.messages);
    await thread.run.start({ input: question("What is 6 times 7?") });
    const texts = [];
    for (const message of await messages) texts.push(await message.text);
    assert.deepEqual(texts, ["", "It is 42."]);
  }),

  // On a thread of its own: the client ends all that it reads as soon as one of its subscriptions has seen the end of a run, also
  // a subscription whose events have not come yet. A run as short as this one can end before the second is made.
  stream_tool_calls: overEach("chat", async (thread) => {
    const calls = collect(thread.toolCalls);
    await thread.run.start({ input: question("What is 6 times 7?") });
    // The client shows a call when it starts and when it ends.
    const found = await calls;
    assert.equal(new Set(found.map((call) => call.callId)).size, 1);
    const call = found[0];
    assert.deepEqual([call.name, call.input, await call.output], ["multiply", { left: 6, right: 7 }, "42"]);
  }),

  stream_question: overEach("approval", async (thread, client) => {
    await thread.run.start({ input: { item: "tea" } });
    await until(() => thread.interrupted);
    const [{ interruptId, namespace, payload }] = thread.interrupts;
    assert.deepEqual(payload, { item: "tea" });
    await assert.rejects(thread.input.respond({ namespace, interrupt_id: "nothing", response: true }), { code: "no_such_interrupt" });
    await thread.input.respond({ namespace, interrupt_id: interruptId, response: true });
    let log;
    await until(async () => (log = (await client.threads.getState(thread.threadId)).values.log).length === 2);
    assert.deepEqual(log, ["approved true", "shipped tea"]);
  }),

  stream_channels: overEach("parent", async (thread) => {
    const channels = ["values", "updates", "custom", "tasks", "checkpoints", "lifecycle"];
    const events = await thread.subscribe(channels);
    await thread.run.start({ input: { text: "a" } });
    const found = await collect(events);
    for (const channel of channels) assert.ok(found.some((event) => event.method === channel), channel);
    const inner = found.filter((event) => event.params.namespace.length > 0);
    assert.match(inner[0].params.namespace[0], /^child:/);
    assert.equal(inner[0].params.data.event, "started");
  }),

  stream_subgraphs: overEach("parent", async (thread) => {
    const subgraphs = collect(thread.subgraphs);
    await thread.run.start({ input: { text: "a" } });
    assert.deepEqual((await subgraphs).map((subgraph) => subgraph.name), ["child"]);
  }),

  stream_failure: overEach("steps", async (thread) => {
    await assert.rejects(thread.run.start({ input: { text: 1 } }), { code: "invalid_argument", message: /text/ });
    const events = await thread.subscribe(["lifecycle"]);
    await thread.run.start({ input: { text: "boom" } });
    const last = (await collect(events)).at(-1).params.data;
    assert.equal(last.event, "failed");
    assert.match(last.error, /boom/);
  }),

  stream_fork: overEach("steps", async (thread, client) => {
    await thread.run.start({ input: { text: "a" } });
    await thread.output;
    const first = (await client.threads.getHistory(thread.threadId)).at(-1);
    await thread.run.start({ input: { text: "b" }, forkFrom: first.checkpoint.checkpoint_id });
    let state;
    await until(async () => {
      state = await client.threads.getState(thread.threadId);
      return state.values.log?.length === 2 && state.values.text === "b";
    });
    assert.deepEqual(state.values, { text: "b", log: ["one b", "two b"] });
  }),
};
