// Builds the bundle that the Python package ships: every site that is there (index.html with src/page.ts, studio.html with
// src/studio.ts) as one html, one js and one css file in src/drystone/show/page/bundle.
import { build } from "esbuild";
import { copyFileSync, existsSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const bundle = join(here, "..", "src", "drystone", "show", "page", "bundle");
const sites = [["index.html", "page"], ["studio.html", "studio"]].filter(([html]) => existsSync(join(here, html)));

mkdirSync(bundle, { recursive: true });
await build({
  entryPoints: sites.map(([, name]) => join(here, "src", `${name}.ts`)),
  outdir: bundle,
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2022",
  charset: "utf8",
  legalComments: "inline",  // the licences of three and uPlot travel with their code
  logLevel: "info",
});
for (const [html] of sites) copyFileSync(join(here, html), join(bundle, html));
