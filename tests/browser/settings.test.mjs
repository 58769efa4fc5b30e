// The settings page as a person uses it: sign in, make a token, call the server with it, revoke it. `SHOTS=DIR` keeps
// pictures of every view in both languages, themes and widths.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";

const binary = process.env.BINARY;
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const folder = mkdtempSync(join(tmpdir(), "botmesh-browser-"));
const state = join(folder, "state");
const admin = secret("admin", "admin:*");
let server, base, browser;

function secret(name, scopes) {
  const args = ["token", "create", "--state", state, "--name", name, "--scope", scopes];
  return execFileSync(binary, args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
}

before(async () => {
  const docs = new URL("../../docs", import.meta.url).pathname;
  server = spawn(binary, ["serve", "--docs", docs, "--http", "127.0.0.1:0", "--state", state], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  base = await new Promise((resolve, reject) => {
    let said = "";
    server.on("exit", () => reject(new Error(said)));
    server.stderr.on("data", (bytes) => {
      said += bytes;
      const url = /serving MCP at (http:\/\/[^\s]+)\/mcp/.exec(said);
      if (url) resolve(url[1]);
    });
  });
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM,
    args: ["--no-sandbox", "--disable-background-networking", "--disable-component-update"],
  });
});

after(async () => {
  await browser?.close();
  server?.kill();
  rmSync(folder, { recursive: true, force: true });
});

const page_url = () => `${base}/service/web/settings/mcp`;

async function open(options = {}) {
  const context = await browser.newContext({ locale: "en-GB", ...options });
  const page = await context.newPage();
  page.problems = [];
  page.on("console", (message) => message.type() === "error" && page.problems.push(message.text()));
  page.on("pageerror", (error) => page.problems.push(String(error)));
  await page.goto(page_url());
  return page;
}

async function sign_in(page, token = admin) {
  await page.locator("#token").fill(token);
  await page.locator("#token").press("Enter");
  await page.waitForLoadState();
}

async function call(token) {
  const answer = await fetch(`${base}/mcp`, {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
      Authorization: `Bearer ${token}`,
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
  });
  const body = answer.status === 200 ? await answer.json() : undefined;
  return { status: answer.status, tools: body?.result.tools.map((tool) => tool.name) };
}

test("sign in, make a token, use it, revoke it, be refused", async () => {
  const page = await open();
  assert.equal(await page.locator("#tokens").count(), 0, "nothing is shown before signing in");
  await sign_in(page, "bmd_wrong");
  assert.match(await page.getByRole("alert").textContent(), /no valid administrator token/);
  await sign_in(page, secret("reader", "docs:read"));
  assert.match(await page.getByRole("alert").textContent(), /no valid administrator token/);
  await sign_in(page);
  assert.equal(page.url(), page_url());
  await page.locator("#name").fill("ana");
  await page.getByRole("button", { name: "Make token" }).click();
  const token = await page.locator("#secret").textContent();
  assert.match(token, /^bmd_[0-9a-f]{12}_[0-9a-f]{64}$/);
  await page.reload();
  assert.equal(await page.locator("#secret").count(), 0, "shown once");
  assert.equal((await page.content()).includes(token), false);
  const called = await call(token);
  assert.equal(called.status, 200);
  assert.ok(called.tools.includes("docs_search") && !called.tools.includes("flow_run"));
  await page.locator("#name").fill("ana");
  await page.getByRole("button", { name: "Make token" }).click();
  assert.match(await page.getByRole("alert").textContent(), /this name already: ana/);
  await page.getByRole("button", { name: "Revoke: ana" }).click();
  assert.match(await page.getByRole("status").textContent(), /Token revoked: ana/);
  assert.equal((await call(token)).status, 401);
  const cookies = await page.context().cookies();
  const session = cookies.find((cookie) => cookie.name === "botmesh_session");
  assert.ok(session.httpOnly && session.sameSite === "Strict", JSON.stringify(session));
  const with_cookie = await fetch(`${base}/mcp`, {
    method: "POST",
    headers: { "Content-Type": "application/json", Cookie: `botmesh_session=${session.value}` },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
  });
  assert.equal(with_cookie.status, 401, "the cookie is worth nothing at /mcp");
  await page.getByRole("button", { name: "Sign out" }).click();
  assert.equal(await page.locator("#token").count(), 1);
  await page.context().addCookies([session]);
  await page.goto(page_url());
  assert.equal(await page.locator("#token").count(), 1, "the session is over, not only its cookie");
  const refused = page.problems.filter((problem) => !problem.includes("401"));
  assert.deepEqual(refused, [], "no error in the console, so none of the policy either");
  await page.context().close();
});

test("a session ends with the token that it began with", async () => {
  const page = await open();
  await sign_in(page, secret("second", "admin:*"));
  assert.equal(await page.locator("#tokens").count(), 1);
  execFileSync(binary, ["token", "revoke", "--state", state, "second"], { stdio: "ignore" });
  await page.reload();
  assert.equal(await page.locator("#token").count(), 1);
  await page.context().close();
});

test("forms of elsewhere change nothing", async () => {
  const page = await open();
  await sign_in(page);
  const cookie = (await page.context().cookies()).map(({ name, value }) => `${name}=${value}`).join("; ");
  const form_key = await page.locator("input[name=form_key]").first().getAttribute("value");
  const send = (changes) => {
    const fields = { form_key, name: "evil", may: "run", lasts: "ever", ...changes.fields };
    return fetch(`${page_url()}/tokens`, {
      method: "POST",
      redirect: "manual",
      headers: { Cookie: cookie, Origin: base, ...changes.headers },
      body: new URLSearchParams(fields),
    });
  };
  const other_port = "http://127.0.0.1:1";
  for (const changes of [
    { headers: { Origin: other_port } },
    { headers: { Origin: "https://evil.example" } },
    { headers: { Origin: "null" } },
    { headers: { Origin: `${base}.evil.example` } },
    { fields: { form_key: "" } },
    { fields: { form_key: "0".repeat(64) } },
  ]) {
    assert.equal((await send(changes)).status, 403, JSON.stringify(changes));
  }
  assert.equal((await send({ headers: { Cookie: "" } })).status, 303, "to the form to sign in");
  assert.equal((await send({ fields: { may: "admin" } })).status, 400);
  assert.equal((await send({ fields: { lasts: "1y" } })).status, 400);
  assert.equal((await send({ fields: { name: "x".repeat(20_000) } })).status, 413);
  await page.reload();
  assert.equal((await page.content()).includes("evil"), false);
  assert.equal((await send({ fields: { name: "<script>" } })).status, 303);
  await page.reload();
  assert.match(await page.getByRole("alert").textContent(), /1 to 64 letters/);
  await page.context().close();
});

test("answers carry a strict policy and are not kept", async () => {
  const answer = await fetch(page_url());
  const policy = answer.headers.get("content-security-policy");
  for (const part of ["default-src 'none'", "frame-ancestors 'none'", "form-action 'self'", "base-uri 'none'"]) {
    assert.ok(policy.includes(part), policy);
  }
  assert.ok(!policy.includes("unsafe"), policy);
  assert.equal(answer.headers.get("cache-control"), "no-store");
  assert.equal(answer.headers.get("x-frame-options"), "DENY");
});

test("both languages, both themes, both widths, by keyboard, without serious faults", async () => {
  for (const locale of ["en-GB", "es-MX"]) {
    for (const colorScheme of ["light", "dark"]) {
      for (const width of [1280, 360]) {
        const options = { locale, colorScheme, viewport: { width, height: 800 } };
        const page = await open(options);
        const where = `${locale} ${colorScheme} ${width}`;
        await look(page, `sign-in ${where}`);
        await sign_in(page);
        await look(page, `settings ${where}`);
        await page.locator("#name").fill(`shot-${locale}-${colorScheme}-${width}`);
        await page.locator("#name").press("Enter");
        await page.waitForLoadState();
        await look(page, `made ${where}`);
        assert.deepEqual(page.problems, [], where);
        await page.context().close();
      }
    }
  }
});

test("the language can be switched and is kept", async () => {
  const page = await open();
  await page.getByRole("link", { name: "Español" }).click();
  assert.equal(await page.locator("h1").textContent(), "Conectar por MCP");
  await sign_in(page);
  assert.equal(await page.locator("html").getAttribute("lang"), "es");
  assert.equal(await page.locator("#tokens").textContent(), "Tokens");
  await page.context().close();
});

test("it can be read without JavaScript, and every step is reached by keyboard", async () => {
  const bare = await open({ javaScriptEnabled: false });
  await sign_in(bare);
  assert.equal(await bare.locator("button.copy:visible").count(), 0, "no button that does nothing");
  assert.ok((await bare.locator("#snippet-claude").textContent()).includes("${BOTMESH_TOKEN}"));
  assert.equal(await bare.locator("#card-url").textContent(), `${base}/mcp/server-card`);
  await bare.context().close();
  const page = await open();
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await sign_in(page);
  await page.locator("#client-codex summary").focus();
  await page.keyboard.press("Enter");
  await page.locator("#client-codex .copy").first().focus();
  await page.keyboard.press("Enter");
  await page.getByText("Copied").waitFor();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  assert.equal(copied, await page.locator("#snippet-codex").textContent());
  assert.ok(copied.includes(`url = "${base}/mcp"`), copied);
  await page.context().close();
});

async function look(page, name) {
  const overflow = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  assert.equal(overflow, 0, `${name}: wider than the window`);
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  const said = serious.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(" ")}`);
  assert.deepEqual(said, [], name);
  if (process.env.SHOTS) {
    const path = join(process.env.SHOTS, `${name.replaceAll(" ", "-")}.png`);
    await page.screenshot({ path, fullPage: true });
  }
}
