import { isUtf8 } from "node:buffer";
import { GatewayError } from "../errors.ts";
import { hasInexactNumbers, keepExactParts, parseExactParts } from "../wire/exact-numbers.ts";
import { isObject, countValues, isKey, scanMembers, type VisitMember, listOf } from "../wire/json.ts";
import { longTextBytesMin, LongTexts, measureText } from "../wire/long-texts.ts";
import { invalidType, invalidValue, missing } from "../wire/parameter-errors.ts";

export type BodyLimits = Readonly<
  Record<"requestJsonDepthMax" | "requestJsonValuesMax" | "requestTextBytesMax", number>
>;

/**
 * Parses a request body and reports the positions of its members to `visit`. Throws `invalid_body`, also for
 * excessive nesting, and `request_too_large` for bodies that would block other requests.
 */
export function parseBody(bytes: Buffer, limits: BodyLimits, visit: VisitMember): Record<string, unknown> {
  checkBody(bytes, limits, visit);
  return parseObject(bytes.toString("utf8"), parseExactParts);
}

function readExactly(
  bytes: Buffer,
  texts: LongTexts | null,
  outline: Record<string, unknown>,
): Record<string, unknown> {
  const text = bytes.toString("utf8");
  const whole = texts ? parseObject(text) : outline;
  // A long text contains no numbers, but may look as if.
  if (hasInexactNumbers(texts?.outline() ?? text)) keepExactParts(whole, text);
  return whole;
}

/** Checks the encoding, the limits and the long texts, but not all syntax. Returns null for a short body. */
function checkBody(bytes: Buffer, limits: BodyLimits, visit: VisitMember): LongTexts | null {
  const { requestJsonDepthMax, requestJsonValuesMax, requestTextBytesMax } = limits;
  if (!isUtf8(bytes))
    throw new GatewayError("invalid_body", "The request body is not valid UTF-8. Encode it as UTF-8.");
  const count = countValues(requestJsonValuesMax);
  const texts = bytes.length > longTextBytesMin ? new LongTexts(bytes) : null;
  const result = scanMembers(bytes, 0, bytes.length, requestJsonDepthMax, visit, count, texts);
  if (result === "not an object") {
    throw new GatewayError("invalid_body", "The request body is not a valid JSON object. Check its syntax.");
  }
  // `JSON.parse` would need seconds for megabytes of nested brackets.
  if (result === "too deep") {
    throw new GatewayError(
      "invalid_body",
      `The request body is nested more than ${requestJsonDepthMax} levels deep. Flatten it.`,
    );
  }
  if (result === "too many values") {
    throw new GatewayError(
      "request_too_large",
      `The request body has more than ${requestJsonValuesMax} JSON values. Send fewer, or raise REQUEST_JSON_VALUES_MAX.`,
    );
  }
  // The measurement is slow, so it is skipped if the upper bound is within the limit.
  const mayBeTooLarge = (texts?.textSizeMax ?? 0) > requestTextBytesMax;
  if (mayBeTooLarge && measureText(bytes, requestTextBytesMax) > requestTextBytesMax) {
    throw new GatewayError(
      "request_too_large",
      `The request body contains more than ${requestTextBytesMax} bytes of text. Send less text, or raise REQUEST_TEXT_BYTES_MAX.`,
    );
  }
  return texts;
}

/**
 * Parses a body without its long texts, because a native request forwards long texts as bytes. Makes the same checks
 * as `parseBody`, and finds the position of the model's name.
 * @param visit receives the positions of all other members
 */
export function outlineModelBody(
  bytes: Buffer,
  limits: BodyLimits,
  members: RequestMembers,
  visit?: VisitMember,
): OutlinedBody {
  let modelRange: ByteRange = { start: 0, end: 0 };
  const walked = { count: 0, bytes: 0 };
  const texts = checkBody(bytes, limits, (keyStart, keyEnd, start, end) => {
    walked.count++;
    walked.bytes += keyEnd - keyStart;
    if (isKey(bytes, keyStart, keyEnd, "model")) modelRange = { start, end };
    else visit?.(keyStart, keyEnd, start, end);
  });
  const outline = parseObject(texts?.outline() ?? bytes.toString("utf8"));
  const isDoubled = members.check(bytes, outline, walked);
  let whole: Record<string, unknown> | null = null;
  const parseWhole = () => (whole ??= readExactly(bytes, texts, outline));
  return { outline, parseWhole, modelRange: isDoubled ? null : modelRange };
}

export type ByteRange = { start: number; end: number };

type OutlinedBody = {
  /** The parsed body with a placeholder for each long text, for checks. */
  outline: Record<string, unknown>;
  /** The first call may parse the whole body. */
  parseWhole: () => Record<string, unknown>;
  /** Null if a known member occurs twice. */
  modelRange: ByteRange | null;
};

type ReadMembers<Body> = Omit<OutlinedBody, "outline"> & {
  bytes: Buffer;
  outline: Body;
  dropped?: string | null;
};

/** A request that `outlineModelBody` read. A class, because a literal with a getter takes a microsecond more. */
export class OutlinedRequest<Body extends Record<string, unknown>> {
  readonly outline: Body;
  readonly bytes: Buffer;
  readonly model: string;
  readonly modelRange: ByteRange | null;
  stream: boolean;
  readonly dropped: string | null;
  readonly #parseWhole: () => Record<string, unknown>;

  constructor({ bytes, outline, parseWhole, modelRange, dropped = null }: ReadMembers<Body>) {
    this.outline = outline;
    this.bytes = bytes;
    this.model = String(outline["model"]);
    this.modelRange = modelRange;
    this.stream = outline["stream"] === true;
    this.dropped = dropped;
    this.#parseWhole = parseWhole;
  }

  get body(): Body {
    return this.#parseWhole() as Body;
  }
}

function parseObject(text: string, parse: (text: string) => unknown = JSON.parse): Record<string, unknown> {
  let body: unknown;
  try {
    body = parse(text);
  } catch (cause) {
    // The parser's message quotes the body, which may be confidential.
    throw new GatewayError("invalid_body", "The request body is not valid JSON. Check its syntax.", {
      cause,
    });
  }
  if (!isObject(body))
    throw new GatewayError("invalid_body", "The request body is not a JSON object. Send an object.");
  return body;
}

/**
 * Throws a `GatewayError` for an invalid parameter. The checks are handwritten, because every request waits
 * for them. Each check has a JSON Schema for the API description.
 */
export type ParameterCheck = {
  (value: unknown, name: string): void;
  readonly schema: JsonSchema;
};

/** https://json-schema.org/draft/2020-12 */
export type JsonSchema = Readonly<Record<string, unknown>>;

type Parameters<Name extends string = string> = readonly (readonly [name: Name, check: ParameterCheck])[];

/** A test compares the schema with the handwritten check. */
export function parameterCheck(
  schema: JsonSchema,
  check: (value: unknown, name: string) => void,
): ParameterCheck {
  return Object.assign(check, { schema });
}

function ofType(type: "boolean" | "string"): ParameterCheck {
  return parameterCheck({ type }, (value, name) => {
    if (typeof value !== type) throw invalidType(name, `a ${type}`, value);
  });
}

export const aBoolean = ofType("boolean");
export const aString = ofType("string");

export const anObject = parameterCheck({ type: "object" }, (value, name) => {
  if (!isObject(value)) throw invalidType(name, "an object", value);
});

export const objects = parameterCheck({ type: "array", items: anObject.schema }, (value, name) => {
  if (!Array.isArray(value)) throw invalidType(name, "an array of objects", value);
  checkObjects(value, name);
});

export const strings = parameterCheck({ type: "array", items: { type: "string" } }, (value, name) => {
  if (!Array.isArray(value)) throw invalidType(name, "an array of strings", value);
  const index = value.findIndex((item) => typeof item !== "string");
  if (index !== -1) throw invalidType(`${name}[${index}]`, "a string", value[index]);
});

export function checkObjects(items: unknown[], name: string): void {
  const index = items.findIndex((item) => !isObject(item));
  if (index !== -1) throw invalidType(`${name}[${index}]`, "an object", items[index]);
}

export function numberBetween(least: number, most: number): ParameterCheck {
  return parameterCheck({ type: "number", minimum: least, maximum: most }, (value, name) => {
    if (typeof value !== "number") throw invalidType(name, "a number", value);
    if (!(value >= least && value <= most))
      throw invalidValue(name, `must be between ${least} and ${most}`, value);
  });
}

export function integerFrom(least: number, most = Infinity): ParameterCheck {
  const schema = { type: "integer", minimum: least, ...(most < Infinity && { maximum: most }) };
  const rule = most < Infinity ? `must be between ${least} and ${most}` : `must be at least ${least}`;
  return parameterCheck(schema, (value, name) => {
    if (typeof value !== "number" || !Number.isInteger(value)) throw invalidType(name, "an integer", value);
    if (value < least || value > most) throw invalidValue(name, rule, value);
  });
}

/** Messages, each with one of the roles. `checkRest` checks the other members of a message. */
export function messagesWith(
  schema: JsonSchema,
  roles: readonly string[],
  checkRest: (message: Record<string, unknown>, index: number) => void,
): ParameterCheck {
  return parameterCheck({ type: "array", minItems: 1, items: schema }, (messages, name) => {
    if (!Array.isArray(messages)) throw invalidType(name, "an array of objects", messages);
    if (messages.length === 0) throw invalidValue(name, "must contain at least one message");
    for (let index = 0; index < messages.length; index++) {
      const message: unknown = messages[index];
      if (!isObject(message)) throw invalidType(`${name}[${index}]`, "an object", message);
      const { role } = message;
      if (role === undefined) throw missing(`${name}[${index}].role`);
      if (typeof role !== "string") throw invalidType(`${name}[${index}].role`, "a string", role);
      if (!roles.includes(role))
        throw invalidValue(`${name}[${index}].role`, `must be one of ${roles.join(", ")}`, role);
      checkRest(message, index);
    }
  });
}

/** Throws `missing_required_parameter` for a missing parameter. */
export function checkRequired(body: Record<string, unknown>, parameters: Parameters): void {
  for (const [name, check] of parameters) {
    const value = body[name];
    if (value === undefined) throw missing(name);
    check(value, name);
  }
}

/** Null counts as missing. */
export function checkOptional(body: Record<string, unknown>, parameters: Parameters): void {
  for (const [name, check] of parameters) {
    const value = body[name];
    if (value !== undefined && value !== null) check(value, name);
  }
}

/** The schema of an endpoint's requests. Parameters without a check may have any value. */
export type RequestSchema<Name extends string = string> = JsonSchema & {
  required: readonly string[];
  properties: Readonly<Record<Name, JsonSchema>>;
};

export function requestSchema<Required extends string, Optional extends string>(
  required: Parameters<Required>,
  optional: Parameters<Optional>,
): RequestSchema<Required | Optional> {
  const properties = Object.fromEntries([
    ...required.map(([name, { schema }]) => [name, schema]),
    ...optional.map(([name, { schema }]) => [name, orNull(schema)]),
  ]) as Record<Required | Optional, JsonSchema>;
  return { type: "object", required: required.map(([name]) => name), properties };
}

/** Optional parameters may be null. */
function orNull(schema: JsonSchema): JsonSchema {
  const { type, enum: values, anyOf } = schema;
  if (Array.isArray(anyOf)) return { ...schema, anyOf: [...anyOf, { type: "null" }] };
  if (Array.isArray(values)) return { ...schema, enum: [...values, null] };
  return { ...schema, type: Array.isArray(type) ? [...type, "null"] : [type, "null"] };
}

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

/** Adds the members that can name a model to the checked parameters. */
export function requestMembers(required: Parameters, optional: Parameters): RequestMembers {
  const names = [...required, ...optional].map(([name]) => name);
  return new RequestMembers([...names, ...modelNests], otherModelMembers);
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
