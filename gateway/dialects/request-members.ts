import { GatewayError } from "../errors.ts";
import { scanMembers, isObject, listOf } from "../wire/json.ts";

/** The number and total length of an object's keys, as written in the body's bytes. */
type WalkedKeys = { count: number; bytes: number };

/** The members of an endpoint's requests whose names the gateway checks. All other members pass unchecked. */
export class RequestMembers {
  readonly #read: ReadonlySet<string>;
  readonly #byFolded: ReadonlyMap<string, string>;
  readonly #lengthMax: number;

  constructor(read: readonly string[], refused: readonly string[]) {
    const names = [...read, ...refused];
    this.#read = new Set(read);
    this.#byFolded = new Map(names.map((name) => [foldName(name), name]));
    this.#lengthMax = Math.max(...names.map((name) => name.length));
  }

  /**
   * Throws like `checkKeys`, and for a known name with escapes. Returns whether a known name occurs twice,
   * because upstreams may use either value.
   * @param bytes the source text of `body`
   */
  check(bytes: Buffer, body: Record<string, unknown>, walked: WalkedKeys): boolean {
    const keys = Object.keys(body);
    const length = this.checkKeys(body, keys);
    // The counts differ for keys with escapes, non-ASCII keys and duplicates.
    return (keys.length !== walked.count || length !== walked.bytes) && this.#doublesAny(bytes);
  }

  /**
   * Throws `invalid_value` for another spelling of a known name, which an upstream could accept, and for a member that
   * selects another model. Returns the total length of all keys.
   */
  checkKeys(object: Record<string, unknown>, keys: string[]): number {
    let length = 0;
    for (const key of keys) {
      length += key.length;
      if (this.#read.has(key) || key.length > this.#lengthMax) continue;
      const name = this.#byFolded.get(foldName(key));
      if (name === undefined) continue;
      if (key !== name) throw misspelled(key, name);
      if (object[name] !== null) throw otherModel(name);
    }
    return length;
  }

  #doublesAny(bytes: Buffer): boolean {
    const seen = new Set<string>();
    let isDoubled = false;
    scanMembers(bytes, 0, bytes.length, Infinity, (keyStart, keyEnd) => {
      if (keyEnd - keyStart > this.#lengthMax * longestEscape) return;
      const spelling = bytes.toString("utf8", keyStart, keyEnd);
      const key = spelling.includes("\\") ? String(JSON.parse(`"${spelling}"`)) : spelling;
      const name = key.length > this.#lengthMax ? undefined : this.#byFolded.get(foldName(key));
      if (name === undefined) return;
      if (spelling !== name) throw misspelled(spelling, name);
      isDoubled ||= seen.has(name);
      seen.add(name);
    });
    return isDoubled;
  }
}

type Named = readonly (readonly [name: string, check: unknown])[];

/** Adds the members that can name a model to the checked parameters. */
export function requestMembers(...checked: Named[]): RequestMembers {
  return new RequestMembers([...checked.flat().map(([name]) => name), ...modelNests], otherModelMembers);
}

function misspelled(spelling: string, name: string): GatewayError {
  const param = spelling.replaceAll(/[^\x21-\x7e]/g, escape);
  const message = `The parameter '${param}' is another spelling of '${name}'. Use '${name}'.`;
  return new GatewayError("invalid_value", message, { param });
}

function escape(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** The length of an escaped character such as `\u006d`. */
const longestEscape = 6;

/**
 * Members that make a routing upstream use another model, host or price. The gateway rejects them for every
 * provider, because a custom base URL may lead to such a router: see "Other models" in README.md.
 */
const otherModelMembers: readonly string[] = [
  "models",
  "route",
  "preset",
  "provider",
  "fallbacks",
  "context_window_fallbacks",
  "content_policy_fallbacks",
  "providerOptions",
  "advisor",
];

/** Members that can contain another model's name. */
const modelNests: readonly string[] = ["tools", "plugins", "extra_body", "compound_custom"];

/** Throws `invalid_value` for another model in one of `modelNests`. `checkKeys` checks the top level. */
export function refuseOtherModels(body: Record<string, unknown>): void {
  const { tools, plugins, extra_body: extra, compound_custom: compound } = body;
  if (tools !== undefined) refuseModelsOfTools(tools, "tools");
  if (plugins !== undefined) refuseModelsOfTools(plugins, "plugins");
  if (extra !== undefined) refuseNested(extra, "extra_body");
  if (compound !== undefined) refuseNested(compound, "compound_custom");
}

function otherModel(name: string): GatewayError {
  const param = name.replaceAll(/[^\x21-\x7e]/g, "?");
  return new GatewayError(
    "invalid_value",
    `The parameter '${param}' can select a model or host outside the API key's permissions. Remove the parameter, and configure fallbacks in the console.`,
    { param },
  );
}

function refuseNested(members: unknown, param: string): void {
  if (!isObject(members)) return;
  const name = Object.keys(members).find((each) => folded.has(foldName(each)) && members[each] !== null);
  if (name !== undefined) throw otherModel(`${param}.${name}`);
}

/** Throws `invalid_value` for a tool that an upstream runs with another model. */
export function refuseModelsOfTools(tools: unknown, param: string): void {
  for (const [index, tool] of listOf(tools).entries()) refuseModelOfTool(tool, `${param}[${index}]`);
}

export function refuseModelOfTool(tool: unknown, param: string): void {
  const found = findModelOfTool(tool, param);
  if (found !== null) throw otherModel(found);
}

/**
 * Returns the path of a tool or member that selects another model, such as an advisor tool, or null.
 * https://platform.claude.com/docs/en/agents-and-tools/tool-use/advisor-tool
 * https://openrouter.ai/docs/guides/features/plugins/fusion
 */
export function findModelOfTool(tool: unknown, param: string): string | null {
  if (!isObject(tool)) return null;
  const { type, id, parameters, tools } = tool;
  const kind = type ?? id;
  // The client runs these tools itself.
  if (typeof kind !== "string" || kind === "function" || kind === "custom") return null;
  if (modelTool.test(kind)) return param;
  for (const options of [tool, parameters]) {
    const name = isObject(options)
      ? Object.keys(options).find((each) => namesModel(options, each))
      : undefined;
    if (name !== undefined) return `${param}${options === tool ? "" : ".parameters"}.${name}`;
  }
  for (const [index, each] of listOf(tools).entries()) {
    const found = findModelOfTool(each, `${param}.tools[${index}]`);
    if (found !== null) return found;
  }
  return null;
}

/** Matches names such as `model` and `analysis_models`. An object under such a name is an argument's schema. */
function namesModel(options: Record<string, unknown>, name: string): boolean {
  const value = options[name];
  return (typeof value === "string" || Array.isArray(value)) && modelOption.test(foldName(name));
}

/**
 * Folds a name as case-insensitive decoders do. Go's simple folding maps U+017F to s and U+212A to k
 * (https://github.com/golang/go/issues/14750). Some decoders in Java and .NET map U+0130 and U+0131 to i.
 */
function foldName(name: string): string {
  if (!oddCharacter.test(name)) return name;
  // `toLowerCase` maps U+212A to k.
  return name.replaceAll("ſ", "s").replaceAll(/[ıİ]/g, "i").toLowerCase();
}

const oddCharacter = /[^a-z_]/;

const folded: ReadonlySet<string> = new Set(otherModelMembers.map(foldName));
const modelOption = /^(?:[a-z]{1,32}_)?models?$/;
const modelTool = /(?:^|:)(?:advisor|fusion|subagent)/i;
