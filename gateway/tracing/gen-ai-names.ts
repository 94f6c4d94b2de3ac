import { findKind } from "../providers/registry.ts";
import type { ObservedUpstream } from "../usage/observed-request.ts";

/**
 * The provider's name in OpenTelemetry's conventions, of its preset or its kind; without one, the preset's name or the
 * provider's own.
 * https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/registry/attributes/gen-ai.md
 */
export function genAiProviderName({ preset, providerKind, providerName }: ObservedUpstream): string {
  const kind = findKind(providerKind);
  const { telemetryName } = kind?.presets.find(({ name }) => name === preset) ?? {};
  return telemetryName ?? kind?.telemetryName ?? preset ?? providerName;
}

/** What an endpoint, as usage records have it, does with a model. */
export function genAiOperationName(endpoint: string): "chat" | "embeddings" {
  return endpoint === "embeddings" ? "embeddings" : "chat";
}
