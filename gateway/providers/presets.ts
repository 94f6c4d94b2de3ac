import type { Preset, ProviderFields } from "./provider.ts";
import { type ProviderKindName, providerKindNames, providerKinds } from "./registry.ts";

/** The facts about a known upstream that the form for a new provider shows. */
export type PresetOfKind = Pick<Preset, "name" | "label" | "baseUrl" | "keyPageUrl" | "keyVariable"> & {
  kind: ProviderKindName;
  hint: string | null;
  /** The base URL is optional if the preset has one. */
  fields: ProviderFields;
};

/** Lists the known upstreams of every kind, in order, for the form of a new provider. */
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

/** Returns null for an unknown name, such as a removed preset. */
export function findPreset(kind: string, name: string | null): PresetOfKind | null {
  return listPresets().find((preset) => preset.kind === kind && preset.name === name) ?? null;
}
