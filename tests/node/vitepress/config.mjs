// The site of the corpus: English at its root, as upstream builds it.
import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";

/** What scripts and snippets import is not part of the corpus: an empty module stands for it. */
const stubs = {
  name: "stubs",
  enforce: "pre",
  resolveId(id, importer) {
    const path = id.split("?")[0];
    const isMissing = importer && /^[./]/.test(path) && !existsSync(resolve(dirname(importer), path));
    return isMissing ? `\0stub:${id}` : null;
  },
  load: (id) => (id.startsWith("\0stub:") ? { code: "export default {}", syntheticNamedExports: true } : null),
};

export default { rewrites: { "en/:rest*": ":rest*" }, vite: { plugins: [stubs] } };
