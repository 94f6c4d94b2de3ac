import { emitPosixCheck, emitPosixUndo } from "./emit-posix.ts";
import { emitPowerShellCheck, emitPowerShellUndo } from "./emit-powershell.ts";
import { generateSetup } from "./generate-setup.ts";
import { formatScriptAddress, scriptModelsMax, type ScriptRequest } from "./script-address.ts";
import {
  checkModel,
  parseBaseUrl,
  type SetupInput,
  SetupInputError,
  type SetupModel,
} from "./setup-input.ts";
import { type ToolId, toolSetups } from "./tool-setups.ts";

/**
 * The script depends only on the request and the gateway's URL, because the gateway serves scripts without
 * authentication. Throws `SetupInputError` for invalid input.
 */
export function buildScript(request: ScriptRequest, url: string): string {
  const { tool, operatingSystem, action, selected, others } = request;
  const chosen = [selected.daily, selected.hard, selected.light].filter((model) => model !== null);
  for (const model of [...chosen, ...others]) checkModel(model);
  if (action === "setup") {
    const { daily } = selected;
    if (daily === null) throw new SetupInputError("The parameter daily is missing. Set it to a model slug.");
    const models = {
      daily,
      light: selected.light ?? daily,
      hard: selected.hard ?? daily,
      connected: [...chosen, ...others],
    };
    return generateSetup({ tool, operatingSystem, baseUrl: url, key: null, models }).script;
  }
  const target = { tool, toolName: toolSetups[tool].name, baseUrl: parseBaseUrl(url) };
  const isWindows = operatingSystem === "windows";
  if (action === "undo") return isWindows ? emitPowerShellUndo(target) : emitPosixUndo(target);
  const slugs = [...new Set(chosen.map(({ slug }) => slug))];
  return isWindows ? emitPowerShellCheck(target, slugs) : emitPosixCheck(target, slugs);
}

/** Builds one-line commands that fetch a script from the gateway and run the script. */
export function buildLines(input: SetupInput<ToolId>): ScriptLines {
  const request = shortestRequest(input);
  const base = parseBaseUrl(input.baseUrl);
  const line = (of: ScriptRequest) => {
    const address = `${base}/setup/${formatScriptAddress(of)}`;
    return input.operatingSystem === "windows" ? `irm '${address}' | iex` : `curl -fsSL '${address}' | sh`;
  };
  const bare = { ...withFacts(request, []), others: [] };
  const none = { light: null, daily: null, hard: null };
  return {
    address: formatScriptAddress(request),
    script: buildScript(request, base),
    setup: line(request),
    check: line({ ...bare, action: "check" }),
    undo: line({ ...bare, selected: none, action: "undo" }),
  };
}

export type ScriptLines = {
  /** The setup script's address below `/setup/`. */
  address: string;
  /** The setup script, byte for byte as served. */
  script: string;
  setup: string;
  check: string;
  undo: string;
};

/** Shortens the address: omits facts and `others` that do not change the script. */
function shortestRequest({ tool, operatingSystem, baseUrl, models }: SetupInput<ToolId>): ScriptRequest {
  const { workloads } = toolSetups[tool];
  const pick = (name: (typeof workloads)[number]) => (workloads.includes(name) ? models[name] : null);
  const selected = { light: pick("light"), daily: models.daily, hard: pick("hard") };
  const slugs = new Set(Object.values(selected).map((model) => model?.slug));
  const others = models.connected.filter(({ slug }) => !slugs.has(slug));
  const full: ScriptRequest = { tool, operatingSystem, action: "setup", selected, others };
  const script = buildScript(full, baseUrl);
  const alone = { ...full, others: [] };
  const isAloneEnough =
    others.length > scriptModelsMax ||
    formatScriptAddress(full).length > addressCharactersMax ||
    buildScript(alone, baseUrl) === script;
  const request = isAloneEnough ? alone : full;
  const wanted = buildScript(request, baseUrl);
  let kept = [...facts];
  for (const fact of facts) {
    const fewer = kept.filter((name) => name !== fact);
    if (buildScript(withFacts(request, fewer), baseUrl) === wanted) kept = fewer;
  }
  return withFacts(request, kept);
}

/** A longer address omits `others`. The tool then does not list those models. */
const addressCharactersMax = 2_000;

const facts = ["contextWindow", "outputTokensMax", "canCallTools", "aiSdkName", "dialects"] as const;

function withFacts(request: ScriptRequest, kept: (typeof facts)[number][]): ScriptRequest {
  const strip = (model: SetupModel): SetupModel => ({
    ...model,
    contextWindow: kept.includes("contextWindow") ? model.contextWindow : null,
    outputTokensMax: kept.includes("outputTokensMax") ? model.outputTokensMax : null,
    canCallTools: kept.includes("canCallTools") ? model.canCallTools : null,
    aiSdkName: kept.includes("aiSdkName") ? model.aiSdkName : null,
    dialects: kept.includes("dialects") ? model.dialects : [],
  });
  const { light, daily, hard } = request.selected;
  return {
    ...request,
    selected: { light: light && strip(light), daily: daily && strip(daily), hard: hard && strip(hard) },
    others: request.others.map(strip),
  };
}
