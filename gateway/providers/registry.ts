import { GatewayError } from "../errors.ts";
import { anthropic } from "./anthropic/anthropic.ts";
import { azureOpenAi } from "./azure-openai/azure-openai.ts";
import { bedrock } from "./bedrock/bedrock.ts";
import { demo } from "./demo/demo.ts";
import { gemini } from "./gemini/gemini.ts";
import { openAiCompatible } from "./openai-compatible/openai-compatible.ts";
import type { Provider, ProviderFields } from "./provider.ts";

export const providerKinds = {
  "openai-compatible": openAiCompatible,
  anthropic,
  gemini,
  "azure-openai": azureOpenAi,
  bedrock,
  demo,
} satisfies Record<string, Provider>;

export type ProviderKindName = keyof typeof providerKinds;

export const providerKindNames = Object.keys(providerKinds) as ProviderKindName[];

/** Returns null for an unknown kind, for example after a downgrade. */
export function findKind(kind: string): Provider | null {
  return Object.hasOwn(providerKinds, kind) ? providerKinds[kind as ProviderKindName] : null;
}

/** Throws `service_unavailable` for an unknown kind. */
export function findProvider(kind: string): Provider {
  const provider = findKind(kind);
  if (provider) return provider;
  throw new GatewayError(
    "service_unavailable",
    `The provider kind ${kind} is unknown to this version of the gateway. Upgrade the gateway, or delete the provider.`,
  );
}

export function listPresets() {
  return providerKindNames.flatMap((kind) =>
    providerKinds[kind].presets.map(({ name, label, baseUrl: own, keyPageUrl, keyVariable, hint = null }) => {
      const baseUrl = own ?? providerKinds[kind].defaultBaseUrl;
      const fields: ProviderFields = {
        ...providerKinds[kind].fields,
        apiKey: keyVariable === null ? "optional" : "required",
        baseUrl: baseUrl === null ? "required" : "optional",
      };
      return { kind, name, label, baseUrl, keyPageUrl, keyVariable, hint, fields };
    }),
  );
}

/** Returns null for an unknown name, such as a removed preset. */
export function findPreset(kind: string, name: string | null) {
  return listPresets().find((preset) => preset.kind === kind && preset.name === name) ?? null;
}
