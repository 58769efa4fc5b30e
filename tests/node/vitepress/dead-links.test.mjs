// The dead links of a real site, by its own builder and by `reindex --check`: as the docs are, and with pages taken out.
import { test } from "node:test";
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";

const shared = process.env.BOTMESH_SHARED ?? resolve(import.meta.dirname, "../../../../shared");
const corpus = join(shared, "corpora/vitepress/docs");
const REMOVED_EVERY = 5; // pages taken out in the second round

/** A link as both sides name it: no fragment, no extension, a folder by its index. */
function normal(link) {
  const bare = decodeURI(link).replace(/[?#].*$/, "").replace(/\.(html|md)$/, "").replace(/^\.\//, "");
  return bare.endsWith("/") ? `${bare}index` : bare;
}

/** Empty files for the code that pages show from elsewhere. */
function addSnippets(root) {
  for (const page of pages(root)) {
    for (const [, path] of readFileSync(join(root, page), "utf8").matchAll(/^<<< @\/([^\s{#]+)/gm)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), path.endsWith(".vue") ? "<template><i /></template>\n" : "\n");
    }
  }
}

function byVitePress(root) {
  writeFileSync(join(root, ".vitepress/config.mjs"), `export { default } from "${import.meta.dirname}/config.mjs";\n`);
  addSnippets(root);
  symlinkSync(join(import.meta.dirname, "node_modules"), join(root, "node_modules"));
  // A process of its own: the builder keeps what it knows of a site. Dead links, and pages whose imports are not
  // there, end the build when all pages have been read.
  const args = [join(import.meta.dirname, "node_modules/vitepress/bin/vitepress.js"), "build", root];
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8", env: { ...process.env, NO_COLOR: "1" } });
  const plain = (stdout + stderr).replace(/\x1b\[\d+m/g, "");
  assert.match(plain, /build complete|dead link\(s\) found|rendering pages/, plain);
  const dead = plain.matchAll(/Found dead link (\S+) in file (\S+)/g);
  return new Set([...dead].map(([, link, file]) => `${file} ${normal(link)}`));
}

function byUs(root) {
  const index = mkdtempSync(join(tmpdir(), "botmesh-index-"));
  let out;
  try {
    const args = ["reindex", root, "--index", index, "--check", "--format", "json"];
    out = execFileSync(process.env.BOTMESH_DOCS, args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  } catch (error) {
    assert.equal(error.status, 1, "findings, not a failure");
    out = error.stdout;
  }
  rmSync(index, { recursive: true });
  const links = JSON.parse(out).findings.filter((finding) => finding.code === "broken-link");
  return new Set(links.map((finding) => `${finding.path} ${normal(finding.message.match(/`(.*)`/)[1])}`));
}

function pages(root) {
  return readdirSync(root, { recursive: true }).filter((name) => name.endsWith(".md")).sort();
}

for (const [name, every] of [["as it is", 0], ["with pages taken out", REMOVED_EVERY]]) {
  test(`dead links of a site, ${name}`, { skip: !existsSync(corpus) && "its corpus is not beside the project" }, (t) => {
    const root = mkdtempSync(join(tmpdir(), "botmesh-site-"));
    cpSync(corpus, root, { recursive: true });
    for (const entry of readdirSync(root, { recursive: true })) chmodSync(join(root, entry), 0o755);
    const removed = every ? pages(root).filter((_, at) => at % every === every - 1) : [];
    for (const page of removed) rmSync(join(root, page));
    mkdirSync(join(root, ".vitepress"));
    const ours = byUs(root);
    const theirs = byVitePress(root);
    rmSync(root, { recursive: true });
    t.diagnostic(`${removed.length} pages taken out; ${theirs.size} dead links by VitePress, ${ours.size} by us`);
    assert.equal(theirs.size > 0, every > 0);
    assert.deepEqual([...ours].sort(), [...theirs].sort());
  });
}
