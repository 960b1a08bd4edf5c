// Builds the page: one HTML file with its script and its style, and no address of another server.
// Usage: node build.mjs [FILE] (default: ../build/release/web/page.html)
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const out = resolve(process.argv[2] ?? `${here}/../build/release/web/page.html`);

const bundle = async (entry, more) => {
  const made = await build({
    entryPoints: [`${here}/src/${entry}`],
    bundle: true,
    minify: true,
    write: false,
    legalComments: "none",
    target: "es2022",
    ...more,
  });
  return made.outputFiles[0].text.trim();
};
const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

// A script that contains "</script" would end its element.
const script = (await bundle("main.js", { format: "iife" })).replaceAll("</script", "<\\/script");
const style = await bundle("style.css", { loader: { ".css": "css" } });
const policy = [
  "default-src 'none'",
  `script-src ${hash(script)}`,
  `style-src ${hash(style)}`,
  "connect-src 'self' data: blob:", // textures and buffers inside mesh files
  "img-src data: blob:",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");
const page = readFileSync(`${here}/src/page.html`, "utf8")
  .replace(
    "<!-- policy -->",
    () => `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
  )
  .replace("<!-- style -->", () => `<style>${style}</style>`)
  .replace("<!-- script -->", () => `<script>${script}</script>`);

mkdirSync(dirname(out), { recursive: true });
writeFileSync(`${out}.new`, page);
renameSync(`${out}.new`, out);
console.log(`${out}: ${(page.length / 1000).toFixed(0)} kB`);
