import { anthropicForm, claudeOpus55 } from "../helpers/native-upstreams/anthropic-upstream.ts";
import { geminiForm } from "../helpers/native-upstreams/gemini-upstream.ts";
import type { VendorForm } from "../helpers/native-upstreams/native-upstream.ts";
import { azureResponsesForm, checkAzureCall } from "../helpers/native-upstreams/azure-responses-upstream.ts";
import { checkOpenAiCall, openAiForm } from "../helpers/native-upstreams/openai-upstream.ts";
import { readResponsesRequest } from "../helpers/native-upstreams/responses-request.ts";
import { readJson } from "../helpers/native-upstreams/vendor-refusal.ts";
import type { SeenRequest } from "../helpers/scripted-upstream.ts";
import { responsesForm } from "../helpers/native-upstreams/responses-upstream.ts";

/** An upstream for coding tools. Its provider name is realistic, because some tools inspect model slugs. */
export type ToolUpstream = {
  provider: string;
  preset?: string;
  form: VendorForm;
  /** The form's model by default. Some tools treat known model names differently. */
  models?: readonly string[];
};

export const chatUpstream: ToolUpstream = { provider: "local", form: openAiForm };

const responsesUpstream: ToolUpstream = {
  provider: "openai",
  preset: "openai",
  form: responsesForm,
};

/** All names except the last are in Codex's built-in list. */
const codexModels = ["gpt-5.5", "gpt-5.6-terra", "gpt-6-sol", "gpt-6.1-sol", "gpt-7-unknown"];

export const codexUpstream: ToolUpstream = {
  ...responsesUpstream,
  models: codexModels,
  form: withModels(responsesForm, codexModels, (request) => checkOpenAiCall(request, "/v1/responses")),
};

export const azureUpstream: ToolUpstream = {
  provider: "azure",
  models: ["gpt-6-luna"],
  form: withModels(azureResponsesForm, ["gpt-6-luna"], checkAzureCall),
};

function withModels(
  form: VendorForm,
  models: readonly string[],
  checkCall: (request: SeenRequest) => void,
): VendorForm {
  return {
    ...form,
    model: models[0] ?? "",
    read(request) {
      checkCall(request);
      const { model } = readJson(request.body);
      return readResponsesRequest(request, models.find((name) => name === model) ?? "none");
    },
  };
}

export const claudeUpstream: ToolUpstream = { provider: "anthropic", form: anthropicForm(claudeOpus55) };

export const geminiUpstream: ToolUpstream = {
  provider: "google",
  form: geminiForm({ name: "gemini-3-flash-preview", generation: 3 }),
};
