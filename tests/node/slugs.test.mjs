// Every character that a heading can hold, slugged by us and by the libraries whose links our anchors must fit.
import { test } from "node:test";
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { slug } from "github-slugger";
import { slugify } from "@mdit-vue/shared";

const binary = process.env.BOTMESH_DOCS;
const HEADINGS_A_PAGE = 2000;

/** Pages of headings, one for each character that is assigned and can stand in a heading, no two with one slug. */
function pages() {
  const headings = [];
  for (let code = 0x20; code < 0x110000; code++) {
    const c = String.fromCodePoint(code);
    if (!/[\p{Cn}\p{Co}\p{Cs}\p{Zl}\p{Zp}\x7f-\x9f]/u.test(c)) headings.push(`# a${c}B${c} ${code}`);
  }
  const texts = [];
  for (let i = 0; i < headings.length; i += HEADINGS_A_PAGE) {
    texts.push(headings.slice(i, i + HEADINGS_A_PAGE).join("\n\n"));
  }
  return texts;
}

/** github-slugger's tables are of Unicode 13: letters that came later, from U+0870 on, it drops and GitHub keeps. */
function isNewerThanLibrary(heading, slugged) {
  const code = heading.codePointAt(1);
  return code >= 0x870 && /[\p{L}\p{M}\p{N}]/u.test(String.fromCodePoint(code)) && slugged === `ab-${code}`;
}

function compare(slug, isVitePress) {
  const folder = mkdtempSync(join(tmpdir(), "slugs-"));
  try {
    const docs = join(folder, "docs");
    mkdirSync(join(docs, isVitePress ? ".vitepress" : "plain"), { recursive: true });
    const texts = pages();
    texts.forEach((text, i) => writeFileSync(join(docs, `${i}.md`), text));
    const index = join(folder, "index");
    execFileSync(binary, ["reindex", docs, "--index", index], { stdio: ["ignore", "ignore", "inherit"] });
    const differences = [];
    let compared = 0;
    for (let i = 0; i < texts.length; i++) {
      const out = execFileSync(binary, ["outline", `${i}.md`, "--index", index, "--json"], { maxBuffer: 1 << 28 });
      for (const { heading, anchor } of JSON.parse(out).headings) {
        const expected = slug(heading);
        compared++;
        if (anchor !== expected && !isNewerThanLibrary(heading, expected)) differences.push({ heading, code: heading.codePointAt(1).toString(16), anchor, expected });
      }
    }
    assert.ok(compared > 100_000, `${compared} headings`);
    assert.deepEqual(differences.slice(0, 40), [], `${differences.length} of ${compared} differ`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test("GitHub's dialect is github-slugger's", { skip: !binary }, () => compare(slug, false));
test("VitePress's dialect is @mdit-vue/shared's", { skip: !binary }, () => compare(slugify, true));
