import { GatewayError } from "../errors.ts";
import { findProvider, type ProviderKindName, findPreset } from "../providers/registry.ts";
import { type AddressGuard, hostAndPortOf, portOf } from "../upstream/address-guard.ts";
import { howToAllow } from "../upstream/upstream-failure.ts";
import type { NewProvider } from "./provider-inputs.ts";

export type CheckedSettings = { kind: ProviderKindName; preset: string | null; baseUrl: string | null };

/** Throws `invalid_value` or `missing_required_parameter` for invalid, forbidden or missing settings. */
export async function checkSettings(
  { kind, preset = null, baseUrl }: Pick<NewProvider, "kind" | "preset" | "baseUrl">,
  guard: AddressGuard,
): Promise<CheckedSettings> {
  const known = findPreset(kind, preset);
  if (preset !== null && known === null) {
    const message = `Providers of kind ${kind} have no preset ${preset}. Use a preset from providers.presets.`;
    throw new GatewayError("invalid_value", message, { param: "preset" });
  }
  const provider = findProvider(kind);
  if (provider.fields.baseUrl !== "none") {
    const address = baseUrl ?? known?.baseUrl ?? provider.defaultBaseUrl;
    return { kind, preset, baseUrl: await checkBaseUrl(address, guard) };
  }
  if (baseUrl === undefined || baseUrl === null) return { kind, preset, baseUrl: null };
  const message = `Providers of kind ${kind} have no base URL. Remove the base URL.`;
  throw new GatewayError("invalid_value", message, { param: "baseUrl" });
}

/** Throws `invalid_value` if the kind rejects the settings or the secret. */
export function checkConnection(
  { kind, preset, baseUrl }: { kind: string; preset: string | null; baseUrl: string | null },
  secret: string | null,
): void {
  findProvider(kind).connect({ baseUrl: baseUrl ?? "", secret, preset });
}

/** Throws for a missing, invalid or forbidden URL. Each connection checks the address again. */
async function checkBaseUrl(text: string | null, guard: AddressGuard): Promise<string> {
  if (text === null) {
    const message =
      "Providers of this kind require a base URL. Enter a URL such as https://api.openai.com/v1.";
    throw new GatewayError("missing_required_parameter", message, { param: "baseUrl" });
  }
  const url = URL.parse(text);
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:")) {
    throw refused("is not an http or https URL. Use a URL such as https://api.openai.com/v1");
  }
  if (url.username !== "" || url.password !== "")
    throw refused("contains a user name or a password. Remove both, and enter the key in its own field");
  if (url.hash !== "") throw refused("contains a fragment (#…). Remove the fragment");
  if (!guard.allowsPrivate(url.hostname, portOf(url))) {
    if (guard.refusesLiteral(url.hostname) || (await guard.resolvesToPrivate(url.hostname))) {
      throw refused(`is a private address. ${howToAllow(hostAndPortOf(url))}`);
    }
    if (url.protocol === "http:")
      throw refused("uses http, which would send the credential unencrypted. Use https");
  }
  return text.replace(/\/+$/, "");
}

function refused(why: string): GatewayError {
  return new GatewayError("invalid_value", `The base URL ${why}.`, { param: "baseUrl" });
}
