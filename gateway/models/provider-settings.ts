import { GatewayError } from "../errors.ts";
import { findProvider, type ProviderKindName, providerKinds } from "../providers/registry.ts";
import type { AddressGuard } from "../upstream/address-guard.ts";
import { checkBaseUrl } from "./check-base-url.ts";
import { findPreset } from "../providers/presets.ts";

/** Where and what a provider is, as it is entered: what is not given is the preset's, or the kind's. */
export type ProviderSettingsInput = {
  kind: ProviderKindName;
  preset?: string | null | undefined;
  baseUrl?: string | null | undefined;
};

/** The same, complete. */
export type CheckedSettings = { kind: ProviderKindName; preset: string | null; baseUrl: string | null };

/** Throws `invalid_value` or `missing_required_parameter` for settings that could never be called, when they are entered. */
export async function checkSettings(
  { kind, preset = null, baseUrl }: ProviderSettingsInput,
  guard: AddressGuard,
): Promise<CheckedSettings> {
  const known = findPreset(kind, preset);
  if (preset !== null && known === null) {
    const message = `Providers of the kind ${kind} have no preset ${preset}. providers.presets lists them.`;
    throw new GatewayError("invalid_value", message, { param: "preset" });
  }
  const provider = providerKinds[kind];
  if (provider.reach === "network") {
    const address = baseUrl ?? known?.baseUrl ?? provider.defaultBaseUrl;
    return { kind, preset, baseUrl: await checkBaseUrl(address, guard) };
  }
  if (baseUrl === undefined || baseUrl === null) return { kind, preset, baseUrl: null };
  throw new GatewayError("invalid_value", `A provider of the kind ${kind} has no base URL.`, {
    param: "baseUrl",
  });
}

/** Throws what the kind throws for settings, or a credential, of a form that it does not take. */
export function checkConnection(
  { kind, preset, baseUrl }: { kind: string; preset: string | null; baseUrl: string | null },
  secret: string | null,
): void {
  const provider = findProvider(kind);
  if (provider.reach === "network") provider.connect({ baseUrl: baseUrl ?? "", secret, preset });
}
