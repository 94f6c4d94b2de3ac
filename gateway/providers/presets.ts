import type { Preset, ProviderFields } from "./provider.ts";
import { type ProviderKindName, providerKindNames, providerKinds } from "./registry.ts";

/** A known upstream, as the form for a new provider shows it. */
export type PresetOfKind = Pick<Preset, "name" | "label" | "baseUrl" | "keyPageUrl" | "keyVariable"> & {
  kind: ProviderKindName;
  hint: string | null;
  /** The base URL is optional where the preset has one. */
  fields: ProviderFields;
};

/** The known upstreams of every kind, in order, for the form of a new provider. */
export function listPresets(): PresetOfKind[] {
  return providerKindNames.flatMap((kind) =>
    presetsOf(kind).map(({ name, label, baseUrl: own, keyPageUrl, keyVariable, hint = null }) => {
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

export function presetsOf(kind: ProviderKindName): readonly Preset[] {
  return providerKinds[kind].presets;
}

/** Null for a name that the kind does not have, or no longer has. */
export function findPreset(kind: string, name: string | null): PresetOfKind | null {
  return listPresets().find((preset) => preset.kind === kind && preset.name === name) ?? null;
}
