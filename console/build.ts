import { createHash } from "node:crypto";
import { existsSync, globSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";

const folder = import.meta.dirname;
const built = join(folder, "build");
const stampFile = join(built, ".stamp");

/** Builds the console into `console/build`, unless an existing build has the same sources. */
async function buildConsole(): Promise<void> {
  const stamp = stampOfSources();
  if (existsSync(stampFile) && readFileSync(stampFile, "utf8") === stamp) return;
  // The import is dynamic, because a machine with a current build may not have Vite.
  const { createBuilder } = await import("vite");
  process.stderr.write("Building the console (about 20 seconds)…\n");
  process.chdir(join(folder, ".."));
  const builder = await createBuilder({ configFile: join(folder, "vite.config.ts"), logLevel: "error" });
  await withoutRemarks(() => builder.buildApp());
  moveInlineScriptOut();
  await listPreloads();
  writeFileSync(stampFile, stamp);
}

/**
 * SvelteKit prints its steps with `console.log` at every log level. Problems go to `console.warn` and `console.error`.
 */
async function withoutRemarks(work: () => Promise<void>): Promise<void> {
  const { log } = console;
  Object.assign(console, { log: () => {} });
  try {
    await work();
  } finally {
    Object.assign(console, { log });
  }
}

function stampOfSources(): string {
  const hash = createHash("sha256");
  const files = globSync(["src/**", "static/**", "*.ts", "../gateway/setup/**", "../package-lock.json"], {
    cwd: folder,
  })
    .map((file) => join(folder, file))
    .filter((file) => statSync(file).isFile());
  for (const file of files.toSorted()) hash.update(relative(folder, file)).update(readFileSync(file));
  return hash.digest("hex");
}

/** Moves SvelteKit's inline script to a file, because the content security policy forbids inline scripts. */
function moveInlineScriptOut(): void {
  const page = join(built, "index.html");
  const html = readFileSync(page, "utf8");
  const inline = /<script>([\s\S]*?)<\/script>/.exec(html);
  if (!inline)
    throw new Error(
      "The built page contains no inline script. Update console/build.ts for SvelteKit's current output.",
    );
  const [element, script = ""] = inline;
  const name = `_app/immutable/start-${createHash("sha256").update(script).digest("hex").slice(0, 12)}.js`;
  write(join(built, name), script);
  const started = html.replace(element, () => `<script src="/${name}" defer></script>`);
  // Modules have a low priority, so that the styles and the first paint do not wait for them.
  write(page, started.replaceAll('rel="modulepreload"', 'rel="modulepreload" fetchpriority="low"'));
}

/** Lists each page's scripts for the `Link` header, so that browsers request them before the app starts. */
async function listPreloads(): Promise<void> {
  const server = join(folder, ".svelte-kit/output/server");
  const { manifest } = (await import(join(server, "manifest-full.js"))) as { manifest: Manifest };
  const html = readFileSync(join(built, "index.html"), "utf8");
  const everywhere = Array.from(
    html.matchAll(/href="\/([^"]+)" rel="modulepreload"/g),
    ([, file = ""]) => file,
  );
  const nodes = await Promise.all(manifest.nodes.map((load) => load()));
  const preloads = manifest.routes.flatMap(({ pattern, page }) => {
    if (!page) return [];
    const used = [...page.layouts, ...page.errors, page.leaf].flatMap((index) => nodes[index ?? -1] ?? []);
    const files = [...new Set([...everywhere, ...used.flatMap(({ imports }) => imports)])];
    // Over HTTP/1.1, a browser downloads at most six files at once, so the largest scripts start first.
    const scripts = files.toSorted((one, another) => sizeOf(another) - sizeOf(one));
    return {
      pattern: pattern.source,
      link: scripts.map((file) => `</${file}>; rel=modulepreload; fetchpriority=low`).join(", "),
    };
  });
  writeFileSync(join(built, ".preloads.json"), JSON.stringify(preloads));
}

const sizeOf = (file: string): number => statSync(join(built, file)).size;

type Manifest = {
  nodes: (() => Promise<{ imports: string[] }>)[];
  routes: {
    pattern: RegExp;
    page: { layouts: (number | undefined)[]; errors: (number | undefined)[]; leaf: number } | null;
  }[];
};

function write(file: string, text: string): void {
  writeFileSync(file, text);
  writeFileSync(`${file}.gz`, gzipSync(text));
  writeFileSync(`${file}.br`, brotliCompressSync(text));
}

await buildConsole();
