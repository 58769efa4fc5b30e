// What `--format sarif` writes, against the published schema of SARIF 2.1.0.
import { test } from "node:test";
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Ajv from "ajv";

const schemaFile = new URL("node_modules/@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json", import.meta.url);
const { $schema, id, ...schema } = JSON.parse(readFileSync(schemaFile, "utf8"));
const validate = new Ajv.default({ strict: false, validateFormats: false, unicodeRegExp: false }).compile(schema);

const pages = {
  "en/a b.md": "# A\n\n[x](gone.md) [y](#gone) ![z](gone.png)\n\n```json flow\n{\"version\": 2}\n```\n",
  "en/ñ.md": "---\ntitle: [\n---\n# Ñ {#a}\n\n## B {#a}\n",
  "es/c.md": "# C\n\n[x](gone.md)\n[x](gone.md)\n",
};

for (const [name, files] of [["with findings", pages], ["without any", { "a.md": "# A\n" }]]) {
  test(`SARIF ${name}`, () => {
    const root = mkdtempSync(join(tmpdir(), "botmesh-sarif-"));
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(join(root, "docs", path, ".."), { recursive: true });
      writeFileSync(join(root, "docs", path), text);
    }
    const args = ["reindex", "docs", "--index", "idx", "--check=info", "--format", "sarif"];
    const run = spawnSync(process.env.BOTMESH_DOCS, args, { cwd: root, encoding: "utf8" });
    rmSync(root, { recursive: true });
    const log = JSON.parse(run.stdout);
    assert.ok(validate(log), JSON.stringify(validate.errors, null, 1));
    const results = log.runs[0].results;
    assert.equal(results.length > 0, run.status === 1);
    const fingerprints = results.map((result) => result.partialFingerprints["botmeshDocs/v1"]);
    assert.equal(new Set(fingerprints).size, fingerprints.length);
    for (const result of results) {
      assert.match(decodeURI(result.locations[0].physicalLocation.artifactLocation.uri), /^docs\//);
    }
  });
}
