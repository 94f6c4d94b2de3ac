import fc from "fast-check";
import { buildScript } from "../../gateway/setup/build-script.ts";
import { generateSetup } from "../../gateway/setup/generate-setup.ts";
import { quote } from "../../gateway/setup/powershell/script-frame.ts";
import { undoScript } from "../../gateway/setup/powershell/write-undo.ts";
import { parseScriptAddress } from "../../gateway/setup/script-address.ts";
import { SetupInputError } from "../../gateway/setup/setup-input.ts";
import { toolIds } from "../../gateway/setup/tool-setups.ts";
import { anyCharacter } from "../helpers/any-character.ts";
import { isFull } from "../helpers/scale.ts";
import { keyValue, setupModels } from "./setup-models.ts";
import { type ReadScript, sharePowerShell } from "./share-powershell.ts";

const powerShell = sharePowerShell();
const { test } = powerShell;

/** The cmdlets exist in PowerShell 5.1 and 7. `chmod` is for macOS and Linux. */
const commands =
  "Get-Command Get-Item New-Object Read-Host Set-StrictMode Test-Path Write-Host Write-Output chmod".split(
    " ",
  );

/**
 * Automatic variables, from
 * https://learn.microsoft.com/en-us/powershell/module/microsoft.powershell.core/about/about_automatic_variables
 */
const automatic =
  "args consolefilename error event eventargs eventsubscriber executioncontext false foreach home host input iscoreclr islinux ismacos iswindows lastexitcode matches myinvocation nestedpromptlevel null ofs pid profile psboundparameters pscmdlet pscommandpath psculture psdebugcontext psedition pshome psitem psscriptroot pssenderinfo psuiculture psversiontable pwd sender shellid stacktrace switch this true".split(
    " ",
  );

function generate(tool: (typeof toolIds)[number], key: string | null) {
  return generateSetup({
    tool,
    operatingSystem: "windows",
    baseUrl: "http://127.0.0.1:9",
    key,
    models: setupModels(),
  });
}

for (const tool of toolIds) {
  test(`${tool}: pasting into a window of 5.1 or 7 runs one block and changes nothing`, async (t) => {
    const { command, undo } = generate(tool, keyValue);
    const script = await powerShell.read(command);
    checkScript(t.is, script);
    t.false(generate(tool, null).command.includes(keyValue));
    t.deepEqual((await powerShell.read(undo)).mistakes, []);
    // A PowerShell window runs a single block only after its closing bracket is pasted.
    t.regex(command.trimEnd(), /^& \{\n[^]*\n\}$/);
    t.is(script.statements, 1);
    // In a pasted command, a tab triggers completion, an empty line ends a block, and some windows change non-ASCII
    // characters.
    t.regex(command, /^[\n\x20-\x7e]+$/);
    t.notRegex(command, /\n\n|\t/);
    t.notRegex(undo, /\n/);
    t.true(Math.max(...command.split("\n").map((line) => line.length)) < 400);
    t.deepEqual(
      script.kinds.filter((kind) => /HereString|StringExpandable/.test(kind)),
      [],
    );
    for (const [, format = ""] of command.matchAll(/^merge_file '(\w+?)c?' /gm)) {
      t.true(command.includes(`function edit_${format}(`), format);
    }
  });
}

test("the undo script follows the same rules", async (t) => {
  checkScript(t.is, await powerShell.read(undoScript));
  t.notRegex(undoScript, /\n\n|\t|[^\n\x20-\x7e]/);
});

/** What PowerShell 7 added: `a ? b : c`, `??`, `??=`, `?.`, `?[`, `&&`, `||` and `clean` blocks. */
const newerKinds =
  "QuestionMark QuestionQuestion QuestionQuestionEquals QuestionDot QuestionLBracket AndAnd OrOr Clean".split(
    " ",
  );

test("syntax that Windows PowerShell 5.1 does not know is found", async (t) => {
  const newer =
    "$a = $b ? 1 : 2; $a ?? 1; $a ??= 1; ${a}?.b; ${a}?[0]; a && b; a || b; function c { clean { } }";
  t.deepEqual(newerThan5(await powerShell.read(newer)), newerKinds);
  t.deepEqual(newerThan5(await powerShell.read("if ($a -and -not $b) { & a | b }")), []);
});

function newerThan5({ kinds }: ReadScript): string[] {
  return kinds.filter((kind) => newerKinds.includes(kind));
}

function checkScript(is: (one: string, other: string) => unknown, script: ReadScript): void {
  is(script.mistakes.join(), "");
  is(newerThan5(script).join(), "");
  // A command contains only the editors that it needs, so some of these functions may be undefined.
  const editors = ["edit_json", "edit_toml", "edit_env"];
  const known = [...script.functions, ...commands, ...editors];
  // An alias would take precedence over a function of the same name. Aliases have no underscores.
  is(script.functions.filter((name) => !/^[a-z]+(_[a-z]+)+$/.test(name)).join(), "");
  is(script.commands.filter((name) => !known.includes(name)).join(), "");
  is(String(script.kinds.includes("Exit")), "false");
  is(script.written.filter((name) => automatic.includes(name.toLowerCase())).join(), "");
  // Operators without the prefix `c` ignore case.
  is(
    script.operators.filter((name) => /^I(match|notmatch|replace|split|like|contains)$/.test(name)).join(),
    "",
  );
}

const hostile = fc.oneof(
  fc.string({ unit: anyCharacter }),
  fc
    .array(
      fc.constantFrom(
        "'",
        "''",
        "\u2018",
        "\u2019",
        "\u201a",
        "\u201b",
        "\u201c",
        '"',
        "`",
        "$",
        "$(",
        ")",
        "{",
        "}",
        "@'",
        "'@",
        "\n",
        "\r\n",
        "\0",
        ";",
        "#",
        "&",
        "|",
        "a",
        " ",
      ),
      { maxLength: 12 },
    )
    .map((parts) => parts.join("")),
);

test("a quoted text stays a text, whatever its content", async (t) => {
  const texts = fc.sample(hostile, { numRuns: 500 }).map((text) => text.toWellFormed());
  const { mistakes, strings } = await powerShell.read(`say_line ${texts.map(quote).join(" ")} 'after'`);
  t.deepEqual(mistakes, []);
  t.deepEqual(strings, [...texts, "after"]);
});

test("hostile slugs, addresses and keys never enter a command", async (t) => {
  const models = setupModels();
  const where = fc.constantFrom("slug", "baseUrl", "key");
  const shapes = new Map<string, string>();
  const property = fc.asyncProperty(
    where,
    hostile,
    fc.constantFrom(...toolIds),
    async (place, text, tool) => {
      const input = {
        tool,
        operatingSystem: "windows" as const,
        baseUrl: place === "baseUrl" ? `http://127.0.0.1:9/${text}` : "http://127.0.0.1:9",
        key: place === "key" ? `${keyValue.slice(0, -1)}${text}` : keyValue,
        models: place === "slug" ? { ...models, daily: { ...models.daily, slug: `qwen/${text}` } } : models,
      };
      let command;
      try {
        ({ command } = generateSetup(input));
      } catch (error) {
        return t.true(error instanceof SetupInputError, String(error));
      }
      const shape = shapes.get(tool) ?? (await shapeOf(generate(tool, keyValue).command));
      shapes.set(tool, shape);
      return t.is(await shapeOf(command), shape);
    },
  );
  await fc.assert(property, { numRuns: isFull ? 150 : 50 });
});

/** Returns the kinds of all tokens except strings and commas. */
async function shapeOf(command: string): Promise<string> {
  const { kinds } = await powerShell.read(command);
  return kinds.filter((kind) => !["StringLiteral", "Comma", "NewLine"].includes(kind)).join(" ");
}

test("PowerShell parses every script, and none of half a script", async (t) => {
  for (const query of ["daily=demo/echo", "undo", "check&daily=demo/echo"]) {
    const request = parseScriptAddress(`codex.ps1?${query}`);
    if (!request) return t.fail();
    const script = buildScript(request, "http://127.0.0.1:9");
    const whole = await powerShell.read(script);
    t.deepEqual([whole.mistakes, newerThan5(whole)], [[], []], query);
    t.true((await powerShell.read(script.slice(0, script.length / 2))).mistakes.length > 0);
  }
});
