/** Accepts the model's name at any host. Null for an unknown model. */
export function findModelFacts(name: string): ModelFacts | null {
  const bare = bareName(name);
  const undated = bare.replace(/-20\d\d(?:-?\d\d){2}$/, "");
  const factsOf = (wanted: string) => facts.find(({ names }) => names.split(" ").includes(wanted));
  return factsOf(bare) ?? factsOf(undated) ?? null;
}

export type ModelFacts = {
  /** Undefined for embeddings, or if the host sets the maximum. */
  outputTokensMax?: number;
  /** Applies only if the price list lacks the context window. */
  contextWindow?: number;
  capabilities: readonly Capability[];
};

export type Capability = "vision" | "tools" | "reasoning" | "structuredOutput" | "embeddings";

/** `claude-opus-4-6` for `us.anthropic.claude-opus-4-6-v1`, `anthropic/claude-opus-4.6`, `claude-opus-4-6@default`. */
function bareName(name: string): string {
  return name
    .toLowerCase()
    .slice(name.lastIndexOf("/") + 1)
    .replace(/^(?:[a-z-]+\.)+/, "")
    .replace(/(?:@.+|-v\d+(?::\d+)?)$/, "")
    .replaceAll(/(?<=\d)\.(?=\d)/g, "-");
}

const chat = ["tools"] as const;
const seeing = ["vision", "tools"] as const;
const thinking = ["tools", "reasoning"] as const;
const all = ["vision", "tools", "reasoning", "structuredOutput"] as const;
const allButSchema = ["vision", "tools", "reasoning"] as const;
const allButThinking = ["vision", "tools", "structuredOutput"] as const;
const allButVision = ["tools", "reasoning", "structuredOutput"] as const;

/**
 * Facts about popular models in November 2026. Sources: https://platform.claude.com/docs/en/models, and the
 * catalogues pi-catalog and llm-zoo where both agree.
 */
const facts: readonly (ModelFacts & { names: string })[] = [
  {
    names:
      "claude-opus-4-6 claude-opus-4-7 claude-opus-4-8 claude-opus-5 claude-opus-5-5 claude-sonnet-4-6 " +
      "claude-sonnet-5 claude-fable-5 claude-fable-5-1 claude-mythos-5 claude-mythos-5-1",
    outputTokensMax: 128_000,
    capabilities: all,
  },
  { names: "claude-opus-4-5 claude-sonnet-4-5 claude-haiku-4-5", outputTokensMax: 64_000, capabilities: all },
  { names: "claude-sonnet-4-0 claude-sonnet-4", outputTokensMax: 64_000, capabilities: allButSchema },
  {
    names: "claude-opus-4-1 claude-opus-4-0 claude-opus-4",
    outputTokensMax: 32_000,
    capabilities: allButSchema,
  },
  { names: "claude-3-5-sonnet claude-3-5-haiku", outputTokensMax: 8_192, capabilities: seeing },
  { names: "claude-3-haiku claude-3-opus", outputTokensMax: 4_096, capabilities: seeing },

  {
    names:
      "gpt-5 gpt-5-codex gpt-5-mini gpt-5-nano gpt-5-1 gpt-5-1-codex gpt-5-1-codex-max gpt-5-1-codex-mini gpt-5-2 " +
      "gpt-5-2-codex gpt-5-2-pro gpt-5-3-codex gpt-5-4 gpt-5-4-mini gpt-5-4-nano gpt-5-4-pro gpt-5-5 gpt-5-5-pro " +
      "gpt-5-6 gpt-5-6-luna gpt-5-6-sol gpt-5-6-terra gpt-6-astra gpt-6-luna gpt-6-sol",
    outputTokensMax: 128_000,
    capabilities: all,
  },
  { names: "gpt-5-pro", outputTokensMax: 272_000, capabilities: all },
  { names: "o1 o1-pro o3 o3-pro o4-mini", outputTokensMax: 100_000, capabilities: all },
  { names: "o3-mini", outputTokensMax: 100_000, capabilities: allButVision },
  { names: "gpt-4-1 gpt-4-1-mini gpt-4-1-nano", outputTokensMax: 32_768, capabilities: allButThinking },
  {
    names: "gpt-4o gpt-4o-mini gpt-5-chat-latest gpt-5-3-chat-latest",
    outputTokensMax: 16_384,
    capabilities: allButThinking,
  },
  { names: "gpt-5-1-chat-latest gpt-5-2-chat-latest", outputTokensMax: 16_384, capabilities: all },
  { names: "gpt-4-turbo gpt-4o-2024-05-13", outputTokensMax: 4_096, capabilities: seeing },
  { names: "gpt-4", outputTokensMax: 8_192, capabilities: chat },
  {
    names:
      "text-embedding-3-small text-embedding-3-large text-embedding-ada-002 gemini-embedding-001 mistral-embed",
    capabilities: ["embeddings"],
  },

  {
    names:
      "gemini-2-5-pro gemini-2-5-flash gemini-2-5-flash-lite gemini-3-pro-preview gemini-3-flash-preview " +
      "gemini-3-1-pro-preview gemini-3-1-flash-lite gemini-3-5-flash gemini-3-5-flash-lite gemini-3-6-flash " +
      "gemini-3-7-flash gemini-3-8-flash gemini-flash-latest gemini-flash-lite-latest",
    outputTokensMax: 65_536,
    contextWindow: 1_048_576,
    capabilities: all,
  },
  { names: "gemini-2-0-flash gemini-2-0-flash-lite", outputTokensMax: 8_192, capabilities: allButThinking },

  { names: "grok-4-fast grok-4-1-fast grok-4-3 grok-4-5 grok-4-6 grok-4-7", capabilities: all },
  { names: "grok-4 grok-3-mini grok-code-fast-1", capabilities: allButVision },
  { names: "deepseek-flash deepseek-v4-flash", capabilities: allButSchema },
  { names: "deepseek-v4-pro", capabilities: thinking },
  { names: "mistral-large-latest mistral-large-2512", capabilities: allButThinking },
  { names: "mistral-medium-latest mistral-small-latest", capabilities: all },
  { names: "kimi-k2-5 kimi-k2-6 kimi-k3", capabilities: allButSchema },
  { names: "kimi-k2-thinking glm-4-6 glm-4-7 glm-5 glm-5-1 glm-5-2 glm-5-3", capabilities: thinking },
  { names: "glm-5-3-flash glm-5v-turbo", capabilities: allButSchema },
];
