import { access } from "node:fs/promises";
import path from "node:path";
import test from "ava";
import fc from "fast-check";
import { generateSetup } from "../../gateway/setup/generate-setup.ts";
import { SetupInputError } from "../../gateway/setup/setup-input.ts";
import { toolIds } from "../../gateway/setup/tool-setups.ts";
import { isFull } from "../helpers/scale.ts";
import { hostileText } from "./hostile-text.ts";
import { createSetupHome } from "./setup-home.ts";
import { keyValue, setupModel, setupModels } from "./setup-models.ts";
import { shellNames } from "./shells.ts";

const valid = { slug: "openai/gpt-5-mini", key: keyValue, baseUrl: "http://127.0.0.1:9" };

const disturbed = (text: string) =>
  fc
    .tuple(fc.nat(text.length), hostileText)
    .map(([at, hostile]) => text.slice(0, at) + hostile + text.slice(at));

const oneDisturbed = fc
  .constantFrom("slug", "key", "baseUrl")
  .chain((name) => disturbed(valid[name as keyof typeof valid]).map((text) => ({ ...valid, [name]: text })));

function generate(tool: (typeof toolIds)[number], { slug, key, baseUrl }: typeof valid) {
  const models = setupModels({ daily: slug });
  return generateSetup({ tool, operatingSystem: "posix", baseUrl, key, models });
}

test("hostile slugs, keys and addresses are rejected or harmless", (t) => {
  let refused = 0;
  fc.assert(
    fc.property(fc.constantFrom(...toolIds), oneDisturbed, (tool, input) => {
      try {
        const { command } = generate(tool, input);
        // Accepted slugs and keys contain only characters that are literal in quoted strings.
        if (!/^[\w.:@+~/-]+$/.test(input.slug + input.key)) return false;
        const lines = command.split("\n");
        return lines.filter((line) => line === "MODEL_GATEWAY").length === 1 && !command.includes("canary");
      } catch (error) {
        refused++;
        return error instanceof SetupInputError;
      }
    }),
    { numRuns: 2_000 },
  );
  t.true(refused > 500, `${refused} refused`);
});

const addresses: [string, string | null][] = [
  ["http://127.0.0.1:8080", "http://127.0.0.1:8080"],
  ["https://Gateway.Example.com/v1/", "https://gateway.example.com"],
  ["  https://example.com/models/v1  ", "https://example.com/models"],
  ["http://[::1]:8080/", "http://[::1]:8080"],
  ["https://bücher.example", "https://xn--bcher-kva.example"],
  ["example.com", null],
  ["javascript:alert(1)", null],
  ["file:///etc/passwd", null],
  ["https://user:word@example.com", null],
  ["https://example.com/?a=b", null],
  ["https://example.com/#a", null],
  ["https://example.com/$(touch canary)", null],
  ["https://example.com/'", null],
  ["https://a$b.example", null],
  ["", null],
];

for (const [given, expected] of addresses) {
  test(`the address ${JSON.stringify(given)} becomes ${expected ?? "an error"}`, (t) => {
    const attempt = () => generate("claude-code", { ...valid, baseUrl: given });
    if (expected === null) return void t.throws(attempt, { instanceOf: SetupInputError });
    t.true(attempt().command.includes(`set env > ANTHROPIC_BASE_URL = "${expected}"\n`));
  });
}

test("invalid counts are rejected", (t) => {
  for (const contextWindow of [0, -1, 1.5, Number.NaN, Infinity, "1; touch canary" as unknown as number]) {
    const daily = setupModel("a/b", { contextWindow });
    const models = { ...setupModels(), daily };
    const input = { operatingSystem: "posix", baseUrl: valid.baseUrl, key: null, models } as const;
    t.throws(() => generateSetup({ ...input, tool: "codex" }), { instanceOf: SetupInputError });
  }
});

test("values in commands run nothing in any shell", async (t) => {
  const { run, home } = await createSetupHome(t, { programs: [] });
  const strange = { ...valid, slug: "a-b/~+@:.-/..//:free", baseUrl: "http://[::1]:9/~a/-b/.c" };
  for (const [index, tool] of toolIds.filter((_, each) => isFull || each % 3 === 0).entries()) {
    const { command } = generate(tool, strange);
    const shell = shellNames[index % shellNames.length] ?? "dash";
    const { code, stderr } = await run(shell, command);
    t.is(code, 0, stderr);
    await t.throwsAsync(access(path.join(home, "canary")));
  }
});
