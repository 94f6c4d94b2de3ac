import type { ChatQuirks } from "../../wire/chat-completion.ts";
import type { Preset } from "../provider.ts";

type OpenAiCompatiblePreset = Preset &
  Partial<ChatQuirks> & {
    /** Whether the upstream fully supports OpenAI's `/responses`, with streams, tools and reasoning. */
    speaksResponses?: true;
    /** The names of models that reason even if the request switches reasoning off. */
    alwaysThinks?: RegExp;
  };

/**
 * OpenAI's older names. Mistral rejects `max_completion_tokens`, and Ollama ignores the parameter. LM Studio and most
 * chat templates of vLLM and llama.cpp reject the developer role.
 * https://github.com/editor-code-assistant/eca/issues/231,
 * https://github.com/ollama/ollama/blob/main/docs/api/openai-compatibility.mdx,
 * https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/669
 */
const firstNames: Partial<ChatQuirks> = { maxTokensName: "max_tokens", developerRole: "system" };

/** For upstreams that document `max_completion_tokens`, but not the developer role. */
const oldRoles: Partial<ChatQuirks> = { developerRole: "system" };

export const presets: readonly OpenAiCompatiblePreset[] = [
  {
    name: "openai",
    label: "OpenAI",
    baseUrl: "https://api.openai.com/v1",
    keyPageUrl: "https://platform.openai.com/api-keys",
    keyVariable: "OPENAI_API_KEY",
    speaksResponses: true,
    extensions: ["verbosity"],
  },
  {
    // https://api-docs.deepseek.com/api/create-chat-completion
    name: "deepseek",
    label: "DeepSeek",
    baseUrl: "https://api.deepseek.com",
    keyPageUrl: "https://platform.deepseek.com/api_keys",
    keyVariable: "DEEPSEEK_API_KEY",
    ...firstNames,
    extensions: ["thoughts"],
    // https://api-docs.deepseek.com/guides/thinking_mode
    thinkingSwitch: "thinking",
  },
  {
    // https://docs.mistral.ai/api/
    name: "mistral",
    label: "Mistral",
    baseUrl: "https://api.mistral.ai/v1",
    keyPageUrl: "https://console.mistral.ai/api-keys",
    keyVariable: "MISTRAL_API_KEY",
    telemetryName: "mistral_ai",
    ...firstNames,
  },
  {
    // https://console.groq.com/docs/openai
    name: "groq",
    label: "Groq",
    baseUrl: "https://api.groq.com/openai/v1",
    keyPageUrl: "https://console.groq.com/keys",
    keyVariable: "GROQ_API_KEY",
    ...oldRoles,
  },
  {
    // https://docs.x.ai/docs/api-reference
    name: "xai",
    label: "xAI",
    baseUrl: "https://api.x.ai/v1",
    keyPageUrl: "https://console.x.ai",
    keyVariable: "XAI_API_KEY",
    telemetryName: "x_ai",
    ...firstNames,
  },
  {
    // https://docs.together.ai/reference/chat-completions-1
    name: "together",
    label: "Together AI",
    baseUrl: "https://api.together.xyz/v1",
    keyPageUrl: "https://api.together.ai/settings/api-keys",
    keyVariable: "TOGETHER_API_KEY",
    ...firstNames,
  },
  {
    // https://docs.fireworks.ai/api-reference/post-chatcompletions
    name: "fireworks",
    label: "Fireworks AI",
    baseUrl: "https://api.fireworks.ai/inference/v1",
    keyPageUrl: "https://app.fireworks.ai/settings/users/api-keys",
    keyVariable: "FIREWORKS_API_KEY",
    ...firstNames,
    // https://docs.fireworks.ai/guides/reasoning
    extensions: ["own thoughts"],
  },
  {
    // https://openrouter.ai/docs/api/reference/parameters
    name: "openrouter",
    label: "OpenRouter",
    baseUrl: "https://openrouter.ai/api/v1",
    keyPageUrl: "https://openrouter.ai/settings/keys",
    keyVariable: "OPENROUTER_API_KEY",
    ...oldRoles,
    extensions: ["thoughts", "cache_control", "verbosity"],
    // https://openrouter.ai/docs/guides/best-practices/reasoning-tokens
    thinkingSwitch: "reasoning",
  },
  {
    // https://platform.kimi.ai/docs/api/chat
    name: "moonshot",
    label: "Moonshot AI (Kimi)",
    baseUrl: "https://api.moonshot.ai/v1",
    keyPageUrl: "https://platform.moonshot.ai/console/api-keys",
    keyVariable: "MOONSHOT_API_KEY",
    telemetryName: "moonshot_ai",
    ...firstNames,
    extensions: ["thoughts"],
    // https://platform.kimi.ai/docs/api/chat
    thinkingSwitch: "thinking",
    alwaysThinks: /^kimi-(k2\.7|k[3-9])/,
  },
  {
    // https://docs.z.ai/api-reference/llm/chat-completion
    name: "zai",
    label: "Z.ai (GLM)",
    baseUrl: "https://api.z.ai/api/paas/v4",
    keyPageUrl: "https://z.ai/manage-apikey/apikey-list",
    keyVariable: "ZAI_API_KEY",
    ...firstNames,
    extensions: ["thoughts"],
    // https://docs.z.ai/guides/capabilities/thinking-mode
    thinkingSwitch: "thinking",
  },
  {
    // https://www.alibabacloud.com/help/en/model-studio/compatibility-of-openai-with-dashscope
    name: "qwen",
    label: "Qwen (Alibaba Cloud Model Studio, international)",
    baseUrl: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
    keyPageUrl: "https://modelstudio.console.alibabacloud.com/",
    keyVariable: "DASHSCOPE_API_KEY",
    ...firstNames,
    extensions: ["thoughts"],
    // https://www.alibabacloud.com/help/en/model-studio/deep-thinking
    thinkingSwitch: "enable_thinking",
  },
  {
    // https://inference-docs.cerebras.ai/resources/openai
    name: "cerebras",
    label: "Cerebras",
    baseUrl: "https://api.cerebras.ai/v1",
    keyPageUrl: "https://cloud.cerebras.ai",
    keyVariable: "CEREBRAS_API_KEY",
    ...oldRoles,
  },
  // https://docs.ollama.com/api/openai-compatibility
  localPreset("ollama", "Ollama", 11_434),
  // https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html
  localPreset("vllm", "vLLM", 8000),
  // https://github.com/ggml-org/llama.cpp/tree/master/tools/server
  localPreset("llama-cpp", "llama.cpp", 8080),
  // https://lmstudio.ai/docs/developer/openai-compat
  localPreset("lm-studio", "LM Studio", 1234),
];

/** @param port the default port of the server */
function localPreset(name: string, label: string, port: number): OpenAiCompatiblePreset {
  const baseUrl = `http://localhost:${port}/v1`;
  const hint = `To allow a server on the gateway's own machine, add localhost:${port} to UPSTREAM_PRIVATE_HOSTS, and restart the gateway.`;
  const extensions = ["own thoughts"] as const;
  return { name, label, baseUrl, hint, keyPageUrl: null, keyVariable: null, ...firstNames, extensions };
}
