import { type Dialect, type OperatingSystem, SetupInputError, type SetupModel } from "./setup-input.ts";
import { isToolId, type ToolId } from "./tool-setups.ts";

export type ScriptRequest = {
  tool: ToolId;
  operatingSystem: OperatingSystem;
  action: ScriptAction;
  /** Null for a workload without a model in the address. */
  selected: { light: SetupModel | null; daily: SetupModel | null; hard: SetupModel | null };
  /** Further connected models, for tools that list models. */
  others: SetupModel[];
};

type ScriptAction = "setup" | "undo" | "check";

/** Formats an address below `/setup/`. Commands enclose the address in single quotes, so it contains none. */
export function formatScriptAddress(request: ScriptRequest): string {
  const { tool, operatingSystem, action, others } = request;
  const { light, daily, hard } = request.selected;
  const models = Object.entries({ light, daily, hard }).flatMap(([name, model]) =>
    model === null ? [] : `${name}=${formatModel(model)}`,
  );
  const parameters = [
    ...models,
    ...(others.length > 0 ? [`models=${others.map(formatModel).join(";")}`] : []),
    ...(action === "setup" ? [] : [action]),
  ];
  const query = parameters.length > 0 ? `?${parameters.join("&")}` : "";
  return `${tool}.${operatingSystem === "windows" ? "ps1" : "sh"}${query}`;
}

/**
 * Returns null for an unknown tool or file extension. Throws `SetupInputError` for an invalid query. Messages
 * quote no unvalidated text, because a shell may receive them.
 */
export function parseScriptAddress(address: string): ScriptRequest | null {
  const [path = "", ...rest] = address.split("?");
  const [, tool = "", extension = ""] = /^([a-z0-9-]{1,40})\.(sh|ps1)$/.exec(path) ?? [];
  if (!isToolId(tool)) return null;
  const parameters = readParameters(rest.join("?"));
  const pick = (name: string) => {
    const text = parameters.get(name);
    return text === undefined ? null : parseModel(text);
  };
  return {
    tool,
    operatingSystem: extension === "ps1" ? "windows" : "posix",
    action: readAction(parameters),
    selected: { light: pick("light"), daily: pick("daily"), hard: pick("hard") },
    others: parseOthers(parameters.get("models")),
  };
}

function parseOthers(text: string | undefined): SetupModel[] {
  const models = text?.split(";") ?? [];
  if (models.length > scriptModelsMax) {
    throw new SetupInputError(`The URL lists more than ${scriptModelsMax} models. Select fewer models.`);
  }
  return models.map(parseModel);
}

/** Applies to `models`. Anybody can request a script, and each model costs time. */
export const scriptModelsMax = 100;

const scriptQueryCharactersMax = 4_000;

function readParameters(query: string): Map<string, string> {
  if (query.length > scriptQueryCharactersMax) {
    throw new SetupInputError(
      `The query is longer than ${scriptQueryCharactersMax} characters. Select fewer models.`,
    );
  }
  const parameters = new Map<string, string>();
  for (const part of query === "" ? [] : query.split("&")) {
    const [name = "", ...rest] = part.split("=");
    if (!parameterNames.has(name)) throw new SetupInputError(unknownParameter);
    if (parameters.has(name)) throw new SetupInputError(`The parameter ${name} occurs twice. Send it once.`);
    // `URLSearchParams` would decode a plus, which slugs can contain, to a space.
    parameters.set(name, decode(rest.join("=")));
  }
  return parameters;
}

const parameterNames = new Set(["light", "daily", "hard", "models", "undo", "check"]);
const unknownParameter =
  "The URL contains an unknown parameter. Use only light, daily, hard, models, undo and check.";

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new SetupInputError(
      "The URL contains an invalid percent encoding. Copy the command from the console again.",
    );
  }
}

function readAction(parameters: Map<string, string>): ScriptAction {
  const actions = (["undo", "check"] as const).filter((name) => parameters.has(name));
  if (actions.length > 1)
    throw new SetupInputError("The URL contains both undo and check. Use only one of them.");
  if (actions.some((name) => parameters.get(name) !== "")) {
    throw new SetupInputError("The parameters undo and check take no value. Remove the value.");
  }
  return actions[0] ?? "setup";
}

/** Commas separate the slug and the facts, because slugs contain no comma. */
function formatModel(model: SetupModel): string {
  const { slug, contextWindow, outputTokensMax, canCallTools, aiSdkName, dialects } = model;
  return [
    slug,
    ...(contextWindow === null ? [] : [`context:${contextWindow}`]),
    ...(outputTokensMax === null ? [] : [`output:${outputTokensMax}`]),
    ...(canCallTools === null ? [] : [`tools:${canCallTools ? "yes" : "no"}`]),
    ...(aiSdkName === null ? [] : [`sdk:${aiSdkName}`]),
    ...dialects,
  ].join(",");
}

function parseModel(text: string): SetupModel {
  const [slug = "", ...facts] = text.split(",");
  const model: SetupModel = {
    slug,
    contextWindow: null,
    outputTokensMax: null,
    inputPrice: null,
    outputPrice: null,
    canCallTools: null,
    isDemo: false,
    aiSdkName: null,
    dialects: [],
  };
  for (const fact of facts) {
    const [, name, value = ""] = /^(?:(context|output|tools|sdk):)?([a-z0-9-]{1,20})$/.exec(fact) ?? [];
    if (name === "context" && isCount(value)) model.contextWindow = Number(value);
    else if (name === "output" && isCount(value)) model.outputTokensMax = Number(value);
    else if (name === "tools" && /^(yes|no)$/.test(value)) model.canCallTools = value === "yes";
    else if (name === "sdk") model.aiSdkName = value;
    else if (name === undefined && isDialect(value)) model.dialects = [...model.dialects, value];
    else
      throw new SetupInputError(
        "The URL contains an invalid model. Copy the command from the console again.",
      );
  }
  return model;
}

function isCount(text: string): boolean {
  return /^[1-9]\d{0,9}$/.test(text);
}

function isDialect(text: string): text is Dialect {
  return /^(chat|messages|responses)$/.test(text);
}
