// `useStream` of `@langchain/react`, rendered in a DOM without a browser. The arguments are the address of the server and the
// folder of the packages.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [url, folder] = process.argv.slice(2);
const require = createRequire(join(folder, "main.js"));
const load = (name) => import(pathToFileURL(require.resolve(name)));

const { Window } = await load("happy-dom");
const window = new Window();
Object.assign(globalThis, { window, document: window.document, IS_REACT_ACT_ENVIRONMENT: false });
// Newer versions of Node have one.
globalThis.navigator ??= window.navigator;
const React = (await load("react")).default;
const { createRoot } = (await load("react-dom/client")).default;
const { useStream, useMessageMetadata } = require("@langchain/react");

/** A page with one stream. */
function page(options) {
  const shown = {};
  function First({ stream, message }) {
    shown.metadata = useMessageMetadata(stream, message.id);
    return null;
  }
  function Chat() {
    const stream = useStream({ apiUrl: url, ...options });
    shown.stream = stream;
    shown.texts ??= new Set();
    const lines = stream.messages.map((message) => {
      shown.texts.add(`${message.getType()} ${message.text}`);
      return React.createElement("li", { key: message.id }, `${message.getType()}: ${message.text}`);
    });
    const first = stream.messages[0];
    return React.createElement(
      "main",
      null,
      React.createElement("ul", null, lines),
      React.createElement("output", null, JSON.stringify(stream.values)),
      first ? React.createElement(First, { stream, message: first }) : null,
    );
  }
  const element = document.createElement("div");
  document.body.appendChild(element);
  const root = createRoot(element);
  root.render(React.createElement(Chat));
  const lines = () => [...element.querySelectorAll("li")].map((line) => line.textContent);
  return { shown, lines, text: () => element.querySelector("output")?.textContent ?? "", close: () => root.unmount() };
}

async function until(what, condition) {
  for (const end = Date.now() + 20_000; Date.now() < end; ) {
    const found = await condition();
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error(`not in time: ${what}`);
}

/** The checkpoint before the first state. */
async function beginning(thread) {
  const request = { method: "POST", headers: { "content-type": "application/json" }, body: "{}" };
  const history = await (await fetch(`${url}/threads/${thread}/history`, request)).json();
  return history.find((state) => state.next[0] === "__start__").checkpoint.checkpoint_id;
}

const question = (content, id) => ({ messages: [{ type: "human", content, id }] });

async function mounted(options) {
  const chat = page(options);
  await until("the page is rendered", () => chat.shown.stream && !chat.shown.stream.isThreadLoading);
  return chat;
}

const tests = {
  async a_chat_turn_streams() {
    const chat = await mounted({ assistantId: "chat" });
    await chat.shown.stream.submit(question("What is 6 times 7?", "q1"));
    await until("the answer", () => chat.lines().at(-1) === "ai: It is 42.");
    await until("the end", () => !chat.shown.stream.isLoading);
    assert.deepEqual(chat.lines(), ["human: What is 6 times 7?", "ai: ", "tool: 42", "ai: It is 42."]);
    // The answer was shown while it grew.
    const parts = [...chat.shown.texts].filter((text) => "ai It is 42.".startsWith(text));
    assert.ok(parts.length > 1, `${parts}`);
    const [call] = chat.shown.stream.toolCalls;
    assert.deepEqual([call.name, call.status], ["multiply", "finished"]);
    assert.equal(chat.shown.stream.error, undefined);

    // A second turn on the same thread.
    await chat.shown.stream.submit(question("Good morning", "q2"));
    await until("the second answer", () => chat.lines().at(-1) === "ai: Hello, you said: Good morning");
    assert.equal(chat.lines().length, 6);

    // The page is loaded again.
    const threadId = chat.shown.stream.threadId;
    chat.close();
    const again = await mounted({ assistantId: "chat", threadId });
    await until("the conversation", () => again.lines().length === 6);
    again.close();
  },

  async an_interrupt_is_answered() {
    const chat = await mounted({ assistantId: "approval" });
    await chat.shown.stream.submit({ item: "tea" });
    const interrupt = await until("the question", () => chat.shown.stream.interrupt);
    assert.deepEqual(interrupt.value, { item: "tea" });
    await until("the end", () => !chat.shown.stream.isLoading);
    await chat.shown.stream.respond(true);
    await until("the result", () => chat.text().includes("shipped tea"));
    await until("no question", () => !chat.shown.stream.interrupt && !chat.shown.stream.isLoading);
    assert.equal(chat.shown.stream.error, undefined);
    chat.close();
  },

  async a_message_is_edited_in_a_fork() {
    const chat = await mounted({ assistantId: "chat" });
    await chat.shown.stream.submit(question("one", "m1"));
    await until("the answer", () => chat.lines().at(-1) === "ai: Hello, you said: one");
    await until("the end", () => !chat.shown.stream.isLoading);
    // This version of the hook keeps the parent of the newest checkpoint for every message.
    assert.ok(chat.shown.metadata.parentCheckpointId);
    const forkFrom = await beginning(chat.shown.stream.threadId);
    await chat.shown.stream.submit(question("two", "m2"), { forkFrom });
    await until("the answer of the fork", () => chat.lines().at(-1) === "ai: Hello, you said: two");
    await until("the end", () => !chat.shown.stream.isLoading);
    assert.deepEqual(chat.lines(), ["human: two", "ai: Hello, you said: two"]);
    chat.close();
  },

  async a_failure_is_shown() {
    const chat = await mounted({ assistantId: "steps" });
    await chat.shown.stream.submit({ text: "boom" });
    await until("the error", () => chat.shown.stream.error);
    assert.match(String(chat.shown.stream.error), /boom/);
    chat.close();
  },
};

let failed = 0;
for (const [name, test] of Object.entries(tests)) {
  const began = Date.now();
  try {
    await test();
    console.log(`ok ${name} (${Date.now() - began} ms)`);
  } catch (error) {
    failed += 1;
    console.log(`FAILED ${name}`, error);
  }
}
const { version } = require(join(folder, "@langchain/react/package.json"));
console.log(`react ${version}: ${failed} failed`);
process.exit(failed ? 1 : 0);
