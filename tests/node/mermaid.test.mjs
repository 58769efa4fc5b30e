// The Mermaid text of every case, parsed by the real package at two major versions.
import { test } from "node:test";
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { JSDOM } from "jsdom";

// Mermaid's sanitizer wants a document before it is loaded.
const { window } = new JSDOM("<!doctype html><body></body>", { pretendToBeVisual: true });
globalThis.window = window;
globalThis.document = window.document;
for (const name of ["Element", "HTMLElement", "Node", "DOMParser", "DocumentFragment", "NodeFilter"]) {
  globalThis[name] = window[name];
}

const root = new URL("../cases/flow/", import.meta.url);
const texts = [];
for (const folder of ["valid", "analyze"]) {
  for (const name of readdirSync(new URL(`${folder}/`, root)).filter((name) => name.endsWith(".expected.json"))) {
    const expected = JSON.parse(readFileSync(new URL(`${folder}/${name}`, root), "utf8"));
    const text = expected.mermaid ?? expected.result?.mermaid;
    if (text !== undefined) texts.push([`${folder}/${name}`, text]);
  }
}

for (const version of ["mermaid-10", "mermaid-12"]) {
  test(`${version} parses every drawing`, async () => {
    const { default: mermaid } = await import(version);
    mermaid.initialize({ startOnLoad: false, maxTextSize: 200_000, maxEdges: 2_000 });
    assert.ok(texts.length > 30);
    for (const [name, text] of texts) {
      for (const direction of ["TD", "LR", "TB", "RL", "BT"]) {
        const turned = text.replace("flowchart TD", `flowchart ${direction}`);
        await assert.doesNotReject(mermaid.parse(turned), name);
      }
    }
    await assert.rejects(mermaid.parse("flowchart TD\n  end --> [\"x"), "the parser does look");
  });
}
