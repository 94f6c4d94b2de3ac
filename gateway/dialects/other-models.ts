import { GatewayError } from "../errors.ts";
import { isObject } from "../wire/chat-completion.ts";
import { foldName } from "./fold-name.ts";

/**
 * Members by which an upstream that routes itself runs another model, or the same at another host and price. They are refused
 * for every provider: a custom base URL may lead to any of these, and a key's models, prices and budgets cover `model` only.
 *
 * OpenRouter: https://openrouter.ai/docs/guides/routing/model-fallbacks, /routing/provider-selection, /features/presets
 * Anthropic: https://platform.claude.com/docs/en/build-with-claude/refusals-and-fallback
 * LiteLLM: https://docs.litellm.ai/docs/proxy/reliability
 * Vercel: https://vercel.com/docs/ai-gateway/models-and-providers/provider-options
 * NanoGPT: https://docs.nano-gpt.com/api-reference/miscellaneous/advisor
 * Groq (`compound_custom`): https://console.groq.com/docs/compound
 */
export const otherModelMembers: readonly string[] = [
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

/** Members in which another model can be named. */
export const modelNests: readonly string[] = ["tools", "plugins", "extra_body", "compound_custom"];

/** Throws `invalid_value` for another model in one of `modelNests`. The walk over the keys has checked the first level. */
export function refuseOtherModels(body: Record<string, unknown>): void {
  const { tools, plugins, extra_body: extra, compound_custom: compound } = body;
  if (tools !== undefined) refuseModelsOfTools(tools, "tools");
  if (plugins !== undefined) refuseModelsOfTools(plugins, "plugins");
  if (extra !== undefined) refuseNested(extra, "extra_body");
  if (compound !== undefined) refuseNested(compound, "compound_custom");
}

export function otherModel(name: string): GatewayError {
  const param = name.replaceAll(/[^\x21-\x7e]/g, "?");
  return new GatewayError(
    "invalid_value",
    `The parameter '${param}' can run a model or a host that the API key was not checked for. Leave it out, and send one model per request; fallbacks of a model are configured in the console.`,
    { param },
  );
}

function refuseNested(members: unknown, param: string): void {
  if (!isObject(members)) return;
  const name = Object.keys(members).find((each) => folded.has(foldName(each)) && members[each] !== null);
  if (name !== undefined) throw otherModel(`${param}.${name}`);
}

function refuseModelsOfTools(tools: unknown, param: string): void {
  if (!Array.isArray(tools)) return;
  for (let index = 0; index < tools.length; index++) refuseModelOfTool(tools[index], `${param}[${index}]`);
}

/**
 * Throws `invalid_value` for a tool that an upstream runs by another model, such as Anthropic's and OpenRouter's advisors.
 * https://platform.claude.com/docs/en/agents-and-tools/tool-use/advisor-tool
 * https://openrouter.ai/docs/guides/features/plugins/fusion
 */
export function refuseModelOfTool(tool: unknown, param: string): void {
  if (!isObject(tool)) return;
  const { type, id, parameters, tools } = tool;
  const kind = type ?? id;
  // What the client runs itself.
  if (typeof kind !== "string" || kind === "function" || kind === "custom") return;
  if (modelTool.test(kind)) throw otherModel(param);
  for (const options of [tool, parameters]) {
    const name = isObject(options)
      ? Object.keys(options).find((each) => namesModel(options, each))
      : undefined;
    if (name !== undefined) throw otherModel(`${param}${options === tool ? "" : ".parameters"}.${name}`);
  }
  refuseModelsOfTools(tools, `${param}.tools`);
}

/** Such as `model` and `analysis_models`. An object under that name is the schema of an argument. */
function namesModel(options: Record<string, unknown>, name: string): boolean {
  const value = options[name];
  return (typeof value === "string" || Array.isArray(value)) && modelOption.test(foldName(name));
}

const folded: ReadonlySet<string> = new Set(otherModelMembers.map(foldName));
const modelOption = /^(?:[a-z]{1,32}_)?models?$/;
const modelTool = /(?:^|:)(?:advisor|fusion|subagent)/i;
