import {
  anthropicForm,
  claudeHaiku,
  claudeOpus,
  claudeOpus55,
} from "../helpers/native-upstreams/anthropic-upstream.ts";
import { azureResponsesForm } from "../helpers/native-upstreams/azure-responses-upstream.ts";
import { azureDatedForm, azureV1Form } from "../helpers/native-upstreams/azure-upstream.ts";
import { bedrockForm, bedrockOpus55Form } from "../helpers/native-upstreams/bedrock-upstream.ts";
import { geminiForm } from "../helpers/native-upstreams/gemini-upstream.ts";
import type { VendorForm } from "../helpers/native-upstreams/native-upstream.ts";
import { openAiForm } from "../helpers/native-upstreams/openai-upstream.ts";
import { responsesForm } from "../helpers/native-upstreams/responses-upstream.ts";
import type { ScenarioClient } from "./scenario-client.ts";

/**
 * Every kind of provider except the demo. Some kinds have several entries, because their requests differ by
 * model, preset or version.
 */
export const vendors: Vendor[] = [
  { name: "openai-compatible", form: openAiForm, takesThoughts: "as text" },
  { name: "openai-compatible, deepseek", preset: "deepseek", form: openAiForm, takesThoughts: "as text" },
  {
    name: "anthropic, thinking by an effort",
    form: anthropicForm(claudeOpus),
    takesThoughts: "sealed",
    takesNoTemperature: true,
  },
  {
    name: "anthropic, thinking by a budget",
    form: anthropicForm(claudeHaiku),
    takesThoughts: "sealed",
    thinksByBudget: true,
    thinksOnceATurn: true,
  },
  {
    name: "gemini 3",
    form: geminiForm({ name: "gemini-3-flash-preview", generation: 3 }),
    takesThoughts: "sealed",
  },
  {
    name: "gemini 2.5",
    form: geminiForm({ name: "gemini-2.5-flash", generation: 2 }),
    takesThoughts: "sealed",
    thinksByBudget: true,
  },
  {
    name: "azure-openai, v1",
    form: azureV1Form,
    responsesForm: azureResponsesForm,
    takesThoughts: "as text of chat",
  },
  { name: "azure-openai, with api-version", form: azureDatedForm, takesThoughts: "as text of chat" },
  {
    name: "bedrock",
    form: bedrockForm,
    takesThoughts: "sealed",
    thinksByBudget: true,
    thinksOnceATurn: true,
    countsNoThoughts: true,
    takesNoEmptyResults: true,
  },
];

/** `vendors` omits these vendors, because they reject the forced tools of round-trip.test.ts. */
const alwaysThinking: Vendor[] = [
  {
    name: "anthropic, always thinking",
    form: anthropicForm(claudeOpus55),
    takesThoughts: "sealed",
    takesNoTemperature: true,
    takesNoForcedTool: true,
  },
  {
    name: "bedrock, always thinking",
    form: bedrockOpus55Form,
    takesThoughts: "sealed",
    takesNoTemperature: true,
    takesNoForcedTool: true,
    takesNoSchema: true,
    countsNoThoughts: true,
    takesNoEmptyResults: true,
  },
];

/** OpenAI's responses API. The vendor `openai-compatible` covers OpenAI's chat completions. */
const openAi: Vendor = {
  name: "openai",
  preset: "openai",
  form: responsesForm,
  takesThoughts: "sealed",
};

export function vendorsFor({ dialect }: ScenarioClient): Vendor[] {
  const all = [...vendors, ...alwaysThinking];
  if (dialect !== "responses") return all;
  return [openAi, ...all.map((vendor) => ({ ...vendor, form: vendor.responsesForm ?? vendor.form }))];
}

/** Whether the gateway passes the client's requests to the vendor without translation. */
export function isNative({ dialect }: ScenarioClient, { form, responsesForm, preset }: Vendor): boolean {
  if (dialect === "messages") return form.kind === "anthropic";
  return dialect === "responses" && (responsesForm !== undefined || preset === "openai");
}

export type Vendor = {
  name: string;
  form: VendorForm;
  /** The vendor's version of OpenAI's responses API, which is relayed without translation. */
  responsesForm?: VendorForm;
  preset?: string;
  /**
   * The format in which the vendor accepts thoughts. `as text of chat` requires a client of the same API, and `sealed`
   * requires a client that returns signatures.
   */
  takesThoughts: "as text" | "as text of chat" | "sealed";
  thinksByBudget?: true;
  /** Whether only the first response of a turn contains thoughts. */
  thinksOnceATurn?: true;
  /** Whether the vendor's usage has no count of thought tokens. */
  countsNoThoughts?: true;
  takesNoTemperature?: true;
  takesNoForcedTool?: true;
  takesNoSchema?: true;
  /** Whether the vendor rejects empty tool results. The gateway replaces them with `(empty)`. */
  takesNoEmptyResults?: true;
};
