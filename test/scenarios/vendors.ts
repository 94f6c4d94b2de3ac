import {
  anthropicForm,
  claudeHaiku,
  claudeOpus,
  claudeOpus55,
} from "../helpers/native-upstreams/anthropic-upstream.ts";
import { azureDatedForm, azureV1Form } from "../helpers/native-upstreams/azure-upstream.ts";
import { bedrockForm } from "../helpers/native-upstreams/bedrock-upstream.ts";
import { geminiForm } from "../helpers/native-upstreams/gemini-upstream.ts";
import type { VendorForm } from "../helpers/native-upstreams/native-upstream.ts";
import { openAiForm } from "../helpers/native-upstreams/openai-upstream.ts";

/** Every kind of provider that calls an upstream; some twice, where a vendor has two ways that differ. */
export const vendors: Vendor[] = [
  { name: "openai-compatible", form: openAiForm, takesThoughts: "as text" },
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
  },
  { name: "azure-openai, v1", form: azureV1Form, takesThoughts: "as text" },
  { name: "azure-openai, with api-version", form: azureDatedForm, takesThoughts: "as text" },
  {
    name: "bedrock",
    form: bedrockForm,
    takesThoughts: "sealed",
    thinksOnceATurn: true,
    countsNoThoughts: true,
    takesNoEmptyResults: true,
  },
];

/** Apart from the others because no tool can be forced on it, as random requests do. */
export const alwaysThinking: Vendor = {
  name: "anthropic, always thinking",
  form: anthropicForm(claudeOpus55),
  takesThoughts: "sealed",
  takesNoTemperature: true,
  takesNoForcedTool: true,
};

/** What is not the same everywhere, because the vendor has nothing like it; all else has to be. */
export type Vendor = {
  name: string;
  form: VendorForm;
  /** How thoughts can be given back: anyhow, or only with the vendor's seal, which comes in `reasoning_details`. */
  takesThoughts: "as text" | "sealed";
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
