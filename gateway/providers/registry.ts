import { GatewayError } from "../errors.ts";
import { anthropic } from "./anthropic/anthropic.ts";
import { azureOpenAi } from "./azure-openai/azure-openai.ts";
import { bedrock } from "./bedrock/bedrock.ts";
import { demo } from "./demo/demo.ts";
import { gemini } from "./gemini/gemini.ts";
import { openAiCompatible } from "./openai-compatible/openai-compatible.ts";
import type { Provider } from "./provider.ts";

/** Every kind of provider, one line each. */
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

/** Throws `service_unavailable` for a kind that this version does not know, as after going back to an older one. */
export function findProvider(kind: string): Provider {
  if (Object.hasOwn(providerKinds, kind)) return providerKinds[kind as ProviderKindName];
  throw new GatewayError(
    "service_unavailable",
    `Providers of the kind ${kind} are not known to this version of the gateway.`,
  );
}
