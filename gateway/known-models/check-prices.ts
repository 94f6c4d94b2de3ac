import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Provider } from "@pydantic/genai-prices";
import { listPresets } from "../providers/registry.ts";

/** More sellers. The presets of Bedrock and Azure have no base URL. */
const otherSellers = [
  "https://api.anthropic.com",
  "https://generativelanguage.googleapis.com",
  "https://bedrock-runtime.us-east-1.amazonaws.com",
  "https://name.openai.azure.com",
];

/**
 * `npm run prices:check [-- <folder>]`: prints the differences between the installed price list and its
 * newest release, or a package in a folder. Exits with 1 for differences, and with 2 if it cannot compare.
 */
try {
  const differences = await compare(process.argv[2]);
  for (const difference of differences) process.stdout.write(`${difference}\n`);
  process.stdout.write(
    differences.length === 0 ? "The prices are up to date.\n" : `${differences.length} differences.\n`,
  );
  process.exitCode = differences.length === 0 ? 0 : 1;
} catch (error) {
  const reason = error instanceof Error ? error.message.split("\n", 1)[0] : String(error);
  process.stderr.write(
    `The command cannot compare the prices: ${reason}. Pass the folder of an unpacked release.\n`,
  );
  process.exitCode = 2;
}

async function compare(folder: string | undefined): Promise<string[]> {
  const temporary = folder === undefined ? mkdtempSync(join(tmpdir(), "prices-")) : null;
  try {
    const newest = pathToFileURL(resolve(folder ?? download(temporary ?? ""), "dist/index.js")).href;
    const [ours, theirs] = await Promise.all([readPrices("@pydantic/genai-prices"), readPrices(newest)]);
    const names = [...new Set([...ours.keys(), ...theirs.keys()])].toSorted();
    return names.flatMap((name) => {
      const [before, after] = [ours.get(name) ?? "missing", theirs.get(name) ?? "missing"];
      return before === after ? [] : `${name}: ${before} → ${after}`;
    });
  } finally {
    if (temporary) rmSync(temporary, { recursive: true });
  }
}

function download(folder: string): string {
  const options = { cwd: folder, encoding: "utf8", timeout: 60_000, stdio: "pipe" } as const;
  const file = execFileSync("npm", ["pack", "--silent", "@pydantic/genai-prices@latest"], options).trim();
  execFileSync("tar", ["-xzf", file], options);
  return join(folder, "package");
}

/** Prices as JSON, by `<seller>/<model>`. */
async function readPrices(specifier: string): Promise<Map<string, string>> {
  const { findProvider } = (await import(specifier)) as typeof import("@pydantic/genai-prices");
  const addresses = listPresets().flatMap(({ baseUrl }) => baseUrl ?? []);
  const sellers = new Map<string, Provider>();
  for (const providerApiUrl of [...addresses, ...otherSellers]) {
    const seller = findProvider({ providerApiUrl });
    if (seller) sellers.set(seller.id, seller);
  }
  if (sellers.size === 0) throw new Error("The price list has no known seller");
  return new Map(
    [...sellers.values()].flatMap(({ id, models }) =>
      models.map((model) => [`${id}/${model.id}`, JSON.stringify(model.prices)] as const),
    ),
  );
}
