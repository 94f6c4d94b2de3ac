import { anthropicForm, claudeOpus55 } from "../helpers/native-upstreams/anthropic-upstream.ts";
import { geminiForm } from "../helpers/native-upstreams/gemini-upstream.ts";
import type { VendorForm } from "../helpers/native-upstreams/native-upstream.ts";
import { openAiForm } from "../helpers/native-upstreams/openai-upstream.ts";
import { responsesForm } from "../helpers/native-upstreams/responses-upstream.ts";

/** An upstream for coding tools and its provider's name, since tools inspect slugs. */
export type ToolUpstream = { provider: string; preset?: string; form: VendorForm };

export const chatUpstream: ToolUpstream = { provider: "local", form: openAiForm };

export const responsesUpstream: ToolUpstream = {
  provider: "openai",
  preset: "openai",
  form: responsesForm,
};

export const claudeUpstream: ToolUpstream = { provider: "anthropic", form: anthropicForm(claudeOpus55) };

export const geminiUpstream: ToolUpstream = {
  provider: "google",
  form: geminiForm({ name: "gemini-3-flash-preview", generation: 3 }),
};
