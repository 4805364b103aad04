// Drives agent-chat-ui. Arguments: the address of the server, the folder of the interface, the program of Chromium.

import { createServer } from "node:http";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { extname, join, normalize } from "node:path";

const [url, folder, chromium] = process.argv.slice(2);
const { chromium: browserType } = createRequire(join(folder, "package.json"))("playwright-core");
const pictures = process.env.SUPERSTEP_SCREENSHOTS;

const types = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" };

/** Serves the built interface. */
async function serveInterface() {
  const root = join(folder, "dist");
  const server = createServer(async (request, response) => {
    const path = normalize(new URL(request.url, "http://localhost").pathname);
    const file = join(root, path === "/" ? "index.html" : path);
    try {
      const content = await readFile(file);
      response.writeHead(200, { "content-type": types[extname(file)] ?? "application/octet-stream" }).end(content);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  return server;
}

function check(condition, text) {
  if (!condition) throw new Error(text);
}

const started = performance.now();
let step = 0;

/** Says that a step has passed, and takes a picture if pictures are wanted. */
async function passed(page, name) {
  step += 1;
  if (pictures) await page.screenshot({ path: join(pictures, `${step}-${name.replaceAll(" ", "-")}.png`) });
  console.log(`ok ${name} (${((performance.now() - started) / 1000).toFixed(1)} s)`);
}

async function say(page, text) {
  await page.getByPlaceholder("Type your message...").fill(text);
  await page.getByRole("button", { name: "Send" }).click();
}

const main = (page) => page.locator(".max-w-3xl").first();
const shown = (page, text) => main(page).getByText(text, { exact: true }).first().waitFor();
const idle = (page) => page.getByRole("button", { name: "Send" }).waitFor();

/** A person connects to the server, and the reply grows while the graph works. */
async function chatTurn(page, site) {
  await page.goto(site);
  await page.fill("#apiUrl", url);
  await page.fill("#assistantId", "chat");
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByPlaceholder("Type your message...").waitFor();
  await passed(page, "connected");
  await page.evaluate(() => {
    window.lengths = new Set();
    new MutationObserver(() => {
      const text = document.body.innerText.match(/You said after 0 earlier messages:[^\n]*/);
      if (text) window.lengths.add(text[0].length);
    }).observe(document.body, { subtree: true, childList: true, characterData: true });
  });
  await say(page, "one two three four");
  await shown(page, "You said after 0 earlier messages: one two three four");
  await idle(page);
  const lengths = await page.evaluate(() => [...window.lengths]);
  check(lengths.length >= 3, `the reply grew through ${lengths.length} lengths only`);
  // Each message is shown once.
  check((await main(page).getByText("earlier messages").count()) === 1, "the reply is shown twice");
  await passed(page, "chat turn streamed");
}

/** The graph asks, and a button answers. */
async function interrupt(page) {
  await say(page, "delete old.txt");
  const accept = page.getByRole("button", { name: "Accept" });
  await accept.waitFor();
  await passed(page, "question shown");
  // A question survives a reload.
  await page.reload();
  await accept.waitFor();
  await passed(page, "question shown after a reload");
  await accept.click();
  await shown(page, "Decision on old.txt: accept.");
  await accept.waitFor({ state: "detached" });
  await idle(page);
  await passed(page, "question accepted");
}

/** A message is edited, which makes a branch, and the other branch is shown again. */
async function branches(page) {
  const first = page.locator("div.group").filter({ has: page.getByText("one two three four", { exact: true }) });
  await first.first().hover();
  await first.first().getByRole("button", { name: "Edit" }).click();
  await page.locator("textarea").first().fill("five six");
  await page.getByRole("button", { name: "Submit" }).click();
  await shown(page, "You said after 0 earlier messages: five six");
  await idle(page);
  check((await page.getByText("Decision on old.txt: accept.").count()) === 0, "the old branch is still shown");
  await passed(page, "message edited");
  await switchBranch(page);
  await passed(page, "branch switched");
}

/** Goes from the branch of the edited message to the one before it. */
async function switchBranch(page) {
  await page.getByText("2 / 2", { exact: true }).first().locator("xpath=preceding-sibling::button").click();
  await shown(page, "Decision on old.txt: accept.");
  check((await page.getByText("five six").count()) === 0, "the new branch is still shown");
  await page.getByText("1 / 2", { exact: true }).first().waitFor();
}

/** Another reply to the same message is a branch too. */
async function regenerate(page) {
  const reply = page.locator("div.group").filter({ has: page.getByText("Decision on old.txt: accept.") });
  await reply.first().hover();
  await reply.first().getByRole("button", { name: "Refresh" }).click();
  const accept = page.getByRole("button", { name: "Accept" });
  await accept.click();
  await shown(page, "Decision on old.txt: accept.");
  await idle(page);
  await passed(page, "reply regenerated");
}

/** After a reload the messages and branches are there, and the list of threads opens them. The newest branch is shown first. */
async function history(page, site) {
  const thread = new URL(page.url()).searchParams.get("threadId");
  await page.reload();
  await shown(page, "You said after 0 earlier messages: five six");
  await switchBranch(page);
  await passed(page, "messages and branches shown after a reload");
  await page.goto(`${site}/?apiUrl=${encodeURIComponent(url)}&assistantId=chat&chatHistoryOpen=true`);
  await page.getByRole("button", { name: "one two three four" }).first().click();
  await shown(page, "You said after 0 earlier messages: five six");
  check(new URL(page.url()).searchParams.get("threadId") === thread, "another thread was opened");
  await passed(page, "thread opened from the list");
}

/** A run is cancelled, and the next one works. */
async function stop(page) {
  await say(page, Array.from({ length: 60 }, (_, n) => `word${n}`).join(" "));
  await main(page).getByText("word3 word4").last().waitFor();
  await page.getByRole("button", { name: "Cancel" }).click();
  await idle(page);
  await say(page, "still there?");
  await main(page).getByText(/earlier messages: still there\?$/).waitFor();
  await idle(page);
  await passed(page, "run cancelled");
}

const server = await serveInterface();
const site = `http://127.0.0.1:${server.address().port}`;
const profile = await mkdtemp(join(tmpdir(), "superstep-chromium-"));
const context = await browserType.launchPersistentContext(profile, {
  executablePath: chromium,
  headless: true,
  viewport: { width: 1280, height: 900 },
  args: [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
  ],
});
const page = context.pages()[0] ?? (await context.newPage());
page.setDefaultTimeout(15_000);
const problems = [];
page.on("pageerror", (error) => problems.push(`page: ${error.message}`));
page.on("response", (response) => {
  if (response.url().startsWith(url) && response.status() >= 400) {
    problems.push(`${response.status()} ${response.request().method()} ${response.url()} ${response.request().postData() ?? ""}`);
  }
});
try {
  await chatTurn(page, site);
  await interrupt(page);
  await branches(page);
  await regenerate(page);
  await history(page, site);
  await stop(page);
  check(problems.length === 0, problems.join("\n"));
} catch (error) {
  if (pictures) await page.screenshot({ path: join(pictures, "failed.png") }).catch(() => {});
  console.error(problems.join("\n"));
  console.error((await page.locator("body").innerText().catch(() => "")).slice(0, 4_000));
  console.error(error);
  process.exitCode = 1;
} finally {
  await context.close();
  await rm(profile, { recursive: true, force: true });
  server.close();
}
