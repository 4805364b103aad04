// Runs the suite against the server whose address is the first argument, with the client in the folder that is the second.
// Together the tests call every method of the client.

import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { suite } from "./suite.mjs";
import { threadStreams } from "./thread_streams.mjs";

const [url, folder] = process.argv.slice(2);
const require = createRequire(join(folder, "main.js"));
const { version } = require(join(folder, "@langchain/langgraph-sdk/package.json"));
const sdk = await import(pathToFileURL(require.resolve(join(folder, "@langchain/langgraph-sdk"))));

// Older versions of Node have no WebSocket.
const WebSocket = globalThis.WebSocket ?? require("ws");
const hasThreadStreams = "stream" in new sdk.Client({ apiUrl: url }).threads;
const tests = hasThreadStreams ? { ...suite, ...threadStreams } : suite;

// Counts the calls of each method of the client.
const calls = new Map();
for (const part of ["assistants", "threads", "runs", "crons", "store"]) {
  const kind = Object.getPrototypeOf(new sdk.Client({ apiUrl: url })[part]);
  for (const method of Object.getOwnPropertyNames(kind)) {
    const original = kind[method];
    if (method === "constructor" || method.startsWith("_") || typeof original !== "function") continue;
    const name = `${part}.${method}`;
    calls.set(name, 0);
    kind[method] = function (...args) {
      calls.set(name, calls.get(name) + 1);
      return original.apply(this, args);
    };
  }
}

let failed = 0;
for (const [name, test] of Object.entries(tests)) {
  const began = Date.now();
  let timer;
  const timeout = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error("timed out")), 60_000);
  });
  try {
    await Promise.race([test(new sdk.Client({ apiUrl: url, apiKey: null }), { version, url, sdk, WebSocket }), timeout]);
    console.log(`ok ${name} (${Date.now() - began} ms)`);
  } catch (error) {
    failed += 1;
    console.log(`FAILED ${name}`, error);
  }
  clearTimeout(timer);
}
const missing = [...calls].filter(([, count]) => count === 0).map(([name]) => name);
if (missing.length > 0 || calls.size < 40) {
  failed += 1;
  console.log(`FAILED calls: no test calls ${missing.join(", ") || "a method that was not found"} (${calls.size} methods)`);
}
console.log(`langgraph-sdk ${version}: ${failed} failed`);
process.exit(failed ? 1 : 0);
