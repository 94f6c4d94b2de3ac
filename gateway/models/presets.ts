import type { Preset } from "../providers/provider.ts";
import { type ProviderKindName, providerKindNames, providerKinds } from "../providers/registry.ts";

export type PresetOfKind = Preset & { kind: ProviderKindName };

/** The well-known upstreams of every kind, in the kinds' order: what a form for a new provider offers. */
export function listPresets(): PresetOfKind[] {
  return providerKindNames.flatMap((kind) =>
    presetsOf(kind).map(({ name, label, baseUrl, keyPageUrl, keyVariable }) => {
      return { kind, name, label, baseUrl: baseUrl ?? defaultBaseUrl(kind), keyPageUrl, keyVariable };
    }),
  );
}

/** Null for a name that the kind does not have, or does not have any more. */
export function findPreset(kind: string, name: string | null): PresetOfKind | null {
  return listPresets().find((preset) => preset.kind === kind && preset.name === name) ?? null;
}

function presetsOf(kind: ProviderKindName): readonly Preset[] {
  const provider = providerKinds[kind];
  return provider.reach === "network" ? provider.presets : [];
}

function defaultBaseUrl(kind: ProviderKindName): string | null {
  const provider = providerKinds[kind];
  return provider.reach === "network" ? provider.defaultBaseUrl : null;
}
