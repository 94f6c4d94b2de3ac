import test from "ava";
import fc from "fast-check";
import { buildScript } from "../../gateway/setup/build-script.ts";
import { generateSetup } from "../../gateway/setup/generate-setup.ts";
import { quote } from "../../gateway/setup/powershell/script-frame.ts";
import { undoScript } from "../../gateway/setup/powershell/write-undo.ts";
import { parseScriptAddress } from "../../gateway/setup/script-address.ts";
import { SetupInputError } from "../../gateway/setup/setup-input.ts";
import { toolIds } from "../../gateway/setup/tool-setups.ts";
import { createPowerShellParser, readVerbatim, type Tree, walk } from "./powershell/parse-powershell.ts";
import { keyValue, setupModels } from "./setup-models.ts";
import { anyCharacter } from "../helpers/any-character.ts";

const parse = await createPowerShellParser();

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
  for (const key of [keyValue, null]) {
    test(`${tool}, ${key === null ? "asking for the key" : "with the key"}: PowerShell parses it`, (t) => {
      const { command, undo } = generate(tool, key);
      const { tree, mistakes } = parse(command);
      t.deepEqual(mistakes, []);
      t.deepEqual(parse(undo).mistakes, []);
      t.is(command.includes(keyValue), key !== null);
      // A PowerShell window runs a single block only after its closing bracket is pasted.
      t.regex(tree.text.trimEnd(), /^& \{\n[^]*\n\}$/);
      t.is(tree.type, "command");
    });
  }

  test(`${tool}: pasting into a window changes nothing`, (t) => {
    const { command, undo } = generate(tool, keyValue);
    // In a pasted command, a tab triggers completion, an empty line ends a block, and some windows change non-ASCII
    // characters.
    t.regex(command, /^[\n\x20-\x7e]+$/);
    t.notRegex(command, /\n\n|\t/);
    t.notRegex(undo, /\n/);
    t.true(Math.max(...command.split("\n").map((line) => line.length)) < 400);
    const types = new Set([...walk(parse(command).tree)].map(({ type }) => type));
    t.deepEqual(
      [...types].filter((type) => /here_string|expandable/.test(type)),
      [],
    );
  });

  test(`${tool}: all commands exist, no name collides, and the window stays open`, (t) => {
    const { command } = generate(tool, keyValue);
    checkNames(t.is, command);
    for (const [, format = ""] of command.matchAll(/^merge_file '(\w+?)c?' /gm)) {
      t.true(command.includes(`function edit_${format}(`), format);
    }
  });
}

test("the undo script is PowerShell, too, and follows the same rules", (t) => {
  t.deepEqual(parse(undoScript).mistakes, []);
  checkNames(t.is, undoScript);
  t.notRegex(undoScript, /\n\n|\t|[^\n\x20-\x7e]/);
});

function checkNames(is: (one: string, other: string) => unknown, text: string): void {
  const nodes = [...walk(parse(text).tree)];
  const defined = nodes.filter(({ type }) => type === "function_name").map((node) => node.text);
  const called = nodes.filter(({ type }) => type === "command_name").map((node) => node.text);
  // A command contains only the editors that it needs, so some of these functions may be undefined.
  const editors = ["edit_json", "edit_toml", "edit_env"];
  const known = [...defined, ...commands, ...editors];
  // An alias would take precedence over a function of the same name. Aliases have no underscores.
  is(defined.filter((name) => !/^[a-z]+(_[a-z]+)+$/.test(name)).join(), "");
  is(called.filter((name) => !known.includes(name)).join(), "");
  is(
    nodes
      .filter(({ type, text: word }) => type === "flow_control_statement" && word.startsWith("exit"))
      .length.toString(),
    "0",
  );
  const written = nodes.flatMap(writtenBy);
  is(written.filter((name) => automatic.includes(name.toLowerCase())).join(), "");
  // Operators without the prefix `c` ignore case.
  const operators = nodes
    .filter(({ type }) => type === "comparison_operator")
    .map((node) => node.text.toLowerCase());
  is(
    operators
      .filter((name) => /^-(i?match|i?notmatch|i?replace|i?split|i?like|i?contains)$/.test(name))
      .join(),
    "",
  );
}

function writtenBy({ type, children }: Tree): string[] {
  const targets =
    type === "assignment_expression" || type === "script_parameter"
      ? children.slice(0, 1)
      : type === "foreach_statement" || type === "parameter_list"
        ? children
        : [];
  return targets.flatMap((target) => (target.type === "variable" ? target.text.slice(1) : []));
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

test("a quoted text stays a text, whatever its content", (t) => {
  const property = fc.property(hostile.filter(isWhole), (text) => {
    const { tree, mistakes } = parse(`say_line ${quote(text)} 'after'`);
    t.deepEqual(mistakes, []);
    const strings = [...walk(tree)].filter(({ type }) => type === "verbatim_string_characters");
    t.deepEqual(
      strings.map((node) => node.text),
      [quote(text), "'after'"],
    );
    t.is(readVerbatim(quote(text)), text);
    // PowerShell also ends a single-quoted string at a typographic quote, but the grammar does not.
    t.regex(quote(text).slice(1, -1), /^(?:[^'\u2018-\u201b]|(?:['\u2018-\u201b]{2}))*$/);
  });
  fc.assert(property, { numRuns: 500 });
});

/** The parser stops at a zero byte. */
function isWhole(text: string): boolean {
  return !text.includes("\0");
}

test("hostile slugs, addresses and keys never enter a command", (t) => {
  const models = setupModels();
  const where = fc.constantFrom("slug", "baseUrl", "key");
  const property = fc.property(where, hostile, fc.constantFrom(...toolIds), (place, text, tool) => {
    const input = {
      tool,
      operatingSystem: "windows" as const,
      baseUrl: place === "baseUrl" ? `http://127.0.0.1:9/${text}` : "http://127.0.0.1:9",
      key: place === "key" ? `${keyValue.slice(0, -1)}${text}` : keyValue,
      models: place === "slug" ? { ...models, daily: { ...models.daily, slug: `qwen/${text}` } } : models,
    };
    const { shape, error } = shapeOf(() => generateSetup(input).command);
    if (error === null) t.is(shape, shapeOf(() => generate(tool, keyValue).command).shape);
    else t.true(error instanceof SetupInputError, String(error));
  });
  fc.assert(property, { numRuns: 150 });
});

/** Returns the types of all nodes except strings and commas, or the error. */
function shapeOf(make: () => string): { shape: string; error: unknown } {
  try {
    const { tree } = parse(make());
    const types = [...walk(tree)].map(({ type }) => type).filter((type) => !/verbatim_string|^,$/.test(type));
    return { shape: types.join(" "), error: null };
  } catch (error) {
    return { shape: "", error };
  }
}

test("PowerShell parses every script, and none of half a script", (t) => {
  for (const query of ["daily=demo/echo", "undo", "check&daily=demo/echo"]) {
    const request = parseScriptAddress(`codex.ps1?${query}`);
    if (!request) return t.fail();
    const script = buildScript(request, "http://127.0.0.1:9");
    t.deepEqual(parse(script).mistakes, [], query);
    t.true(parse(script.slice(0, script.length / 2)).mistakes.length > 0);
  }
});
