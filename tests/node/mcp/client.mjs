// Lists and calls every tool with the official TypeScript clients, over stdio and over HTTP, and ends with 1 on any fault.
//
//   node client.mjs BINARY DOCS_DIR
//
// Version 1 is the strictest client there is: it drops the whole list for one odd schema, and checks structured
// content against the output schema of its tool, of errors as well. Version 2 is run in both eras.

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as StdioV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as StdioV2 } from "@modelcontextprotocol/client/stdio";

const QUERIES = ["frase", "search", "appendLog", "docs"];

const [binary, docs] = process.argv.slice(2);
if (!binary || !docs) {
  process.stderr.write("usage: node client.mjs BINARY DOCS_DIR\n");
  process.exit(2);
}

const identity = { name: "botmesh-docs-check", version: "1.0.0" };
const setups = [
  ["v1", () => new ClientV1(identity), StdioV1, HttpV1],
  ["v2 with handshake", () => new ClientV2(identity, { versionNegotiation: { mode: "legacy" } }), StdioV2, HttpV2],
  ["v2 stateless", () => new ClientV2(identity, { versionNegotiation: { mode: { pin: "2026-07-28" } } }), StdioV2, HttpV2],
  ["v2 with probe", () => new ClientV2(identity, { versionNegotiation: { mode: "auto" } }), StdioV2, HttpV2],
];

const server = spawn(binary, ["serve", "--docs", docs, "--http", "127.0.0.1:0", "--insecure-no-auth"], {
  stdio: ["ignore", "ignore", "pipe"],
});
process.on("exit", () => server.kill());
const lines = createInterface({ input: server.stderr });
const url = await new Promise((found) => {
  lines.on("line", (line) => {
    const said = line.match(/serving MCP at (http:\S+)/);
    if (said) found(new URL(said[1]));
  });
});

const faults = [];
for (const [name, make, Stdio, Http] of setups) {
  const transports = [
    ["stdio", () => new Stdio({ command: binary, args: ["--docs", docs], stderr: "inherit" })],
    ["HTTP", () => new Http(url)],
  ];
  for (const [way, transport] of transports) {
    const report = (text) => faults.push(`${name} over ${way}: ${text}`);
    try {
      const nCalls = await drive(make(), transport(), report);
      process.stdout.write(`${name} over ${way}: ${nCalls} calls\n`);
    } catch (error) {
      report(error.stack ?? String(error));
    }
  }
}
for (const fault of faults) process.stderr.write(`${fault}\n`);
process.exit(faults.length ? 1 : 0);

async function drive(client, transport, report) {
  client.onerror = (error) => report(`client: ${error.message}`);
  await client.connect(transport);
  const { tools } = await client.listTools();
  const names = tools.map((tool) => tool.name);
  if (!names.length) report("tools/list is empty");
  let nCalls = 0;

  const call = async (name, args) => {
    nCalls += 1;
    const result = await client.callTool({ name, arguments: args });
    if (result.isError) report(`${name}: ${result.content?.[0]?.text}`);
    if (!result.structuredContent) report(`${name}: no structured content`);
    return result.structuredContent ?? {};
  };

  let page;
  if (names.includes("docs_search")) {
    for (const query of QUERIES) {
      const found = await call("docs_search", { query });
      page ??= found.results?.[0]?.path;
    }
    if (!page) report("docs_search: no hit for any of the example queries");
  }
  let document;
  if (names.includes("flow_example")) {
    const given = await call("flow_example", {});
    document = given.document ?? given;
  }
  const examples = {
    docs_search: { query: "frase" },
    docs_page: { path: page },
    docs_outline: {},
    flow_validate: { document },
    flow_analyze: { document },
    flow_migrate: { document },
    flow_diff: { left: document, right: document },
    flow_digest: { document },
    flow_schema: {},
    flow_example: {},
    flow_simulate: { document, inputs: [] },
  };
  for (const name of names) {
    if (!examples[name]) {
      report(`add example arguments for ${name}`);
      continue;
    }
    await call(name, examples[name]);
    // A wrong argument is a result that says so, and fits the output schema.
    nCalls += 1;
    const wrong = await client.callTool({ name, arguments: { no_such_argument: 1 } });
    if (!wrong.isError) report(`${name}: an unknown argument is accepted`);
  }
  await client.close();
  return nCalls;
}
