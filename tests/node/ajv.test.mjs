// Every case under tests/cases/flow: the schema's verdict by ajv, and its texts, against the expectations.
import { test } from "node:test";
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import Ajv from "ajv/dist/2020.js";

const root = new URL("../../", import.meta.url);
const schema = JSON.parse(readFileSync(new URL("src/flow/schema.json", root), "utf8"));
const validate = new Ajv.default({ strict: true, strictRequired: false, strictTypes: false, allErrors: true }).compile(schema);

const read = (path) => JSON.parse(readFileSync(new URL(`tests/cases/flow/${path}`, root), "utf8"));
const names = (folder) =>
  readdirSync(new URL(`tests/cases/flow/${folder}/`, root))
    .filter((name) => name.endsWith(".expected.json"))
    .map((name) => name.slice(0, -".expected.json".length));

const escape = (token) => token.replaceAll("~", "~0").replaceAll("/", "~1");

/** ajv's errors in the contract's words: `if` and `propertyNames` wrappers dropped, `params` spelled out. */
function issues(errors) {
  const found = new Map();
  for (const error of errors ?? []) {
    let { instancePath: path, message, keyword, params } = error;
    if (keyword === "if" || keyword === "propertyNames") continue;
    if (keyword === "additionalProperties") path += `/${escape(params.additionalProperty)}`;
    if (error.propertyName !== undefined) {
      path += `/${escape(error.propertyName)}`;
      message = `property name ${message}`;
    }
    if (keyword === "enum") {
      message = `must be equal to one of the allowed values: ${params.allowedValues.map((v) => JSON.stringify(v)).join(", ")}`;
    }
    if (keyword === "const") message = `must be equal to constant: ${JSON.stringify(params.allowedValue)}`;
    if (keyword === "not") message = "must NOT have both 'steps' and 'goto'";
    found.set(`${path}\n${message}`, { path, message });
  }
  return [...found.keys()].sort();
}

// What no schema says: these stages come after it, in words of their own.
const beyond = ["must be the id of", "must be unique", "must be a declared locale", "must NOT be present",
  "must NOT be a reserved", "must have required property 'es'", "must be <= max"];

test("valid documents satisfy the schema", () => {
  for (const folder of ["valid", "lint"]) {
    for (const name of names(folder)) {
      assert.ok(validate(read(`${folder}/${name}.json`)), `${folder}/${name}: ${JSON.stringify(validate.errors)}`);
    }
  }
});

test("invalid documents break it in the same places, in the same words", () => {
  let compared = 0;
  for (const name of names("invalid").filter((name) => !name.startsWith("json-"))) {
    const document = read(`invalid/${name}.json`);
    const expected = read(`invalid/${name}.expected.json`).issues;
    // A document of another version gets that one issue.
    if (expected.some((issue) => issue.path === "/version" || issue.message.includes("'version'"))) continue;
    const isValid = validate(document);
    const found = issues(validate.errors);
    const bySchema = expected.filter(
      (issue) => !beyond.some((start) => issue.message.startsWith(start)) && !/^\/variables\/[^/]+\/(default|enum)/.test(issue.path),
    );
    if (bySchema.length === 0) {
      assert.ok(isValid, `${name}: ${JSON.stringify(validate.errors)}`);
    } else {
      assert.deepEqual(found, bySchema.map(({ path, message }) => `${path}\n${message}`).sort(), name);
      compared += 1;
    }
  }
  assert.ok(compared > 30, `${compared} documents compared`);
});
