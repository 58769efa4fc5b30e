// Times ajv, compiled ahead to standalone code, on one document: `node ajv.mjs SCHEMA DOCUMENT ROUNDS`.
// Prints `{ "parse_ns": …, "validate_ns": … }`, the best of the rounds. ajv comes from tests/node.
import { readFileSync, writeFileSync, mkdtempSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

const require = createRequire(new URL("../../tests/node/package.json", import.meta.url));
const Ajv = require("ajv/dist/2020").default;
const standalone = require("ajv/dist/standalone").default;

const [schemaPath, documentPath, rounds] = process.argv.slice(2);
const ajv = new Ajv({ strict: true, strictRequired: false, strictTypes: false, allErrors: true, code: { source: true } });
const code = standalone(ajv, ajv.compile(JSON.parse(readFileSync(schemaPath, "utf8"))));
const folder = mkdtempSync(join(tmpdir(), "flow-ajv-"));
const file = join(folder, "validate.cjs");
// The generated code asks for ajv's run time by name.
writeFileSync(file, code.replaceAll('require("ajv/', `require("${require.resolve("ajv/package.json").replace("package.json", "")}`));
const validate = require(file);

const text = readFileSync(documentPath, "utf8");
let parse = Infinity;
let check = Infinity;
for (let round = 0; round < Number(rounds); round += 1) {
  const start = process.hrtime.bigint();
  const document = JSON.parse(text);
  const middle = process.hrtime.bigint();
  if (!validate(document)) throw new Error(JSON.stringify(validate.errors.slice(0, 3)));
  const end = process.hrtime.bigint();
  parse = Math.min(parse, Number(middle - start));
  check = Math.min(check, Number(end - middle));
}
console.log(JSON.stringify({ parse_ns: parse, validate_ns: check }));
