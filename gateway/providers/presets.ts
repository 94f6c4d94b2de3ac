import type { Preset, ProviderFields } from "./provider.ts";
import { type ProviderKindName, providerKindNames, providerKinds } from "./registry.ts";

/** A well-known upstream as a form for a new provider shows it. */
export type PresetOfKind = Pick<Preset, "name" | "label" | "baseUrl" | "keyPageUrl" | "keyVariable"> & {
  kind: ProviderKindName;
  hint: string | null;
  /** A base URL that can be left out is the preset's. */
  fields: ProviderFields;
};

/** The well-known upstreams of every kind, in the kinds' order: what a form for a new provider offers. */
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

/** Null for a name that the kind does not have, or does not have any more. */
export function findPreset(kind: string, name: string | null): PresetOfKind | null {
  return listPresets().find((preset) => preset.kind === kind && preset.name === name) ?? null;
}
