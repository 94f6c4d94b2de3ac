import {
  anthropicForm,
  claudeHaiku,
  claudeOpus,
  claudeOpus55,
} from "../helpers/native-upstreams/anthropic-upstream.ts";
import { azureResponsesForm } from "../helpers/native-upstreams/azure-responses-upstream.ts";
import { azureDatedForm, azureV1Form } from "../helpers/native-upstreams/azure-upstream.ts";
import { bedrockForm } from "../helpers/native-upstreams/bedrock-upstream.ts";
import { geminiForm } from "../helpers/native-upstreams/gemini-upstream.ts";
import type { VendorForm } from "../helpers/native-upstreams/native-upstream.ts";
import { openAiForm } from "../helpers/native-upstreams/openai-upstream.ts";
import { responsesForm } from "../helpers/native-upstreams/responses-upstream.ts";
import type { ScenarioClient } from "./scenario-client.ts";

/** Every kind of provider that calls an upstream; some twice, where a vendor has two ways that differ. */
export const vendors: Vendor[] = [
  { name: "openai-compatible", form: openAiForm, takesThoughts: "as text of chat" },
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

/** Apart from the others because no tool can be forced on it, as random requests do. */
const alwaysThinking: Vendor = {
  name: "anthropic, always thinking",
  form: anthropicForm(claudeOpus55),
  takesThoughts: "sealed",
  takesNoTemperature: true,
  takesNoForcedTool: true,
};

/** Its chat completions are those of `openai-compatible`. */
const openAi: Vendor = {
  name: "openai",
  preset: "openai",
  form: responsesForm,
  takesThoughts: "sealed",
};

/** Everyone whom a client can meet, each in the form in which it is met. */
export function vendorsFor({ dialect }: ScenarioClient): Vendor[] {
  const all = [...vendors, alwaysThinking];
  if (dialect !== "responses") return all;
  return [openAi, ...all.map((vendor) => ({ ...vendor, form: vendor.responsesForm ?? vendor.form }))];
}

/** What is not the same everywhere, because the vendor has nothing like it; all else has to be. */
export type Vendor = {
  name: string;
  form: VendorForm;
  /** Where it speaks OpenAI's responses itself, so that they pass as they are. */
  responsesForm?: VendorForm;
  /** What the console is told that it is, besides its kind. */
  preset?: string;
  /**
   * How thoughts can be given back: as they are; as they are, but only in a client's own chat completions, because nobody
   * knows whether it takes them; or only with the vendor's seal, which comes in `reasoning_details`.
   */
  takesThoughts: "as text" | "as text of chat" | "sealed";
  /** It is told by a number of tokens how much to think. */
  thinksByBudget?: true;
  /** It does not think again when it gets the results of tools. */
  thinksOnceATurn?: true;
  /** Thoughts are counted only together with the rest of the answer. */
  countsNoThoughts?: true;
  /** A temperature is refused, here as by the vendor. */
  takesNoTemperature?: true;
  /** A tool cannot be forced, as by the vendor. */
  takesNoForcedTool?: true;
  /** The result of a tool must not be empty; words that say so stand in for it. */
  takesNoEmptyResults?: true;
};
