import type { ObservedUpstream } from "../usage/observed-request.ts";

/**
 * Who is called, under the name that OpenTelemetry has for it: of the preset, or else of the kind of API; those that it has
 * none for keep the preset's name, or the one that they have in the console.
 * https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/registry/attributes/gen-ai.md
 */
export function genAiProviderName({ preset, providerKind, providerName }: ObservedUpstream): string {
  if (preset !== null) return wellKnownNames.get(preset) ?? preset;
  return wellKnownNames.get(providerKind) ?? providerName;
}

/** What an endpoint, as usage records have it, does with a model. */
export function genAiOperationName(endpoint: string): "chat" | "embeddings" {
  return endpoint === "embeddings" ? "embeddings" : "chat";
}

/** Where the names differ from the gateway's own. */
const wellKnownNames = new Map([
  ["anthropic", "anthropic"],
  ["azure-openai", "azure.ai.openai"],
  ["bedrock", "aws.bedrock"],
  ["gemini", "gcp.gemini"],
  ["mistral", "mistral_ai"],
  ["moonshot", "moonshot_ai"],
  ["xai", "x_ai"],
]);
