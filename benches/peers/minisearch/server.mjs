// docs_search over Streamable HTTP with the TypeScript SDK and MiniSearch: server.mjs SECTIONS.jsonl. Prints its port.
import { readFileSync } from "node:fs";
import express from "express";
import MiniSearch from "minisearch";
import { z } from "zod";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";

const sections = readFileSync(process.argv[2], "utf8").split("\n").filter(Boolean).map((line, id) => ({ id, ...JSON.parse(line) }));
const index = new MiniSearch({
  fields: ["title", "heading", "text"],
  storeFields: ["path", "title", "heading", "anchor", "text"],
  searchOptions: { boost: { heading: 2, title: 1.5 }, prefix: true, fuzzy: 0.2 },
});
index.addAll(sections);

function search({ query, limit }) {
  const found = index.search(query);
  const results = found.slice(0, limit ?? 8).map(({ path, title, heading, anchor, text, score }) => ({
    path, title, heading, anchor, score, snippet: text.slice(0, 300),
  }));
  return { results, total: found.length };
}

function server() {
  const mcp = new McpServer({ name: "minisearch", version: "1.0.0" });
  const input = { query: z.string(), limit: z.number().int().optional() };
  mcp.registerTool("docs_search", { description: "Search the docs", inputSchema: input }, (args) => {
    const value = search(args);
    return { content: [{ type: "text", text: JSON.stringify(value) }] };
  });
  return mcp;
}

const app = express();
app.use(express.json());
app.post("/mcp", async (request, response) => {
  // Stateless, as the SDK's own example does it: a server and a transport a request.
  const mcp = server();
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined, enableJsonResponse: true });
  response.on("close", () => {
    transport.close();
    mcp.close();
  });
  await mcp.connect(transport);
  await transport.handleRequest(request, response, request.body);
});
const listener = app.listen(0, "127.0.0.1", () => console.log(listener.address().port));
